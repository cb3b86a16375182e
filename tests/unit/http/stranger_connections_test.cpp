#include "server/http/stranger_connections.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(StrangerConnections, TheMachineThatHasTheMostMakesRoom) {
  StrangerConnections<std::string> strangers;
  strangers.add("10.0.0.1", "the oldest of all");
  const uint64_t first = strangers.add("10.0.0.2", "first");
  const uint64_t second = strangers.add("10.0.0.2", "second");
  strangers.add("10.0.0.2", "third");
  strangers.add("10.0.0.3", "x");
  strangers.add("10.0.0.3", "y");
  EXPECT_EQ(strangers.oldest_of_the_most(), "first");
  strangers.remove("10.0.0.2", first);
  EXPECT_EQ(strangers.oldest_of_the_most(), "second") << "the older one of two that have as many";
  strangers.remove("10.0.0.2", second);
  EXPECT_EQ(strangers.oldest_of_the_most(), "x");
}

TEST(StrangerConnections, TheOldestOfAllMakesRoomWhereEachMachineHasOne) {
  StrangerConnections<std::string> strangers;
  const uint64_t first = strangers.add("10.0.0.9", "first");
  const uint64_t second = strangers.add("10.0.0.1", "second");
  EXPECT_EQ(strangers.oldest_of_the_most(), "first");
  strangers.remove("10.0.0.9", first);
  EXPECT_EQ(strangers.oldest_of_the_most(), "second");
  strangers.remove("10.0.0.1", second);
  EXPECT_TRUE(strangers.empty());
}

TEST(StrangerConnections, AMachineWithTooManyMakesRoomItself) {
  StrangerConnections<std::string> strangers;
  strangers.add("10.0.0.9", "the oldest of all");
  strangers.add(machine_of("10.0.0.1"), "first");
  EXPECT_EQ(strangers.in_the_way_of("10.0.0.1", 2), nullptr);
  strangers.add(machine_of("10.0.0.1"), "second");
  for (const char* address : {"10.0.0.1", "::ffff:10.0.0.1"}) {
    const std::string* one = strangers.in_the_way_of(address, 2);
    ASSERT_NE(one, nullptr) << address;
    EXPECT_EQ(*one, "first");
  }
  EXPECT_EQ(strangers.in_the_way_of("10.0.0.9", 2), nullptr);
  EXPECT_EQ(strangers.in_the_way_of("10.0.0.8", 2), nullptr);
}

TEST(StrangerConnections, OneNetworkOfIpv6IsOneMachineAndLoopbackMayHaveAll) {
  StrangerConnections<std::string> strangers;
  strangers.add(machine_of("2001:db8:1:2::7"), "first");
  strangers.add(machine_of("127.0.0.1"), "a proxy's");
  EXPECT_NE(strangers.in_the_way_of("2001:db8:1:2:3:4:5:6", 1), nullptr);
  EXPECT_EQ(strangers.in_the_way_of("2001:db8:1:3::7", 1), nullptr);
  EXPECT_EQ(strangers.in_the_way_of("127.0.0.1", 1), nullptr);
}

}  // namespace
}  // namespace hai
