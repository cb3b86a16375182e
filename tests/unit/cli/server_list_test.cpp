// Which server is asked next, and for how long.

#include "cli/server_list.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

constexpr MonoTime kNow(Duration(1h));

TEST(ServerList, FollowsWhomAServerNamesAndReturnsToItsList) {
  ServerList list({"a:1", "b:1"});
  ServerList::Search search(list, kNow);
  ASSERT_TRUE(search.go_on({.leader = "c:1"}, kNow));
  EXPECT_EQ(list.current(), "c:1");
  EXPECT_EQ(search.pause(), Duration{0});
  ASSERT_TRUE(search.go_on({}, kNow));
  EXPECT_EQ(list.current(), "a:1");
  ASSERT_TRUE(search.go_on({}, kNow));
  EXPECT_EQ(list.current(), "b:1");
  EXPECT_GT(search.pause(), Duration{0}) << "all were asked";
}

TEST(ServerList, DoesNotSpinBetweenTwoThatNameEachOther) {
  ServerList list({"a:1", "b:1"});
  ServerList::Search search(list, kNow);
  Duration paused{0};
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(search.go_on({.leader = list.current() == "a:1" ? "b:1" : "a:1"}, kNow));
    paused += search.pause();
  }
  EXPECT_GE(paused, 600ms);
}

TEST(ServerList, ALoneServerThatIsNotThereIsNotWaitedFor) {
  ServerList list({"a:1"});
  ServerList::Search search(list, kNow);
  EXPECT_FALSE(search.go_on({}, kNow));
}

TEST(ServerList, ALoneServerIsWaitedForWhenThatHelps) {
  ServerList list({"a:1"});
  EXPECT_TRUE(ServerList::Search(list, kNow).go_on({.will_pass = true}, kNow));
  ServerList::Search search(list, kNow);
  ASSERT_TRUE(search.go_on({.fate_is_unknown = true}, kNow));
  EXPECT_TRUE(search.go_on({}, kNow + 5s)) << "it restarts, and the request has its id";
  EXPECT_FALSE(search.go_on({}, kNow + 11s));
}

TEST(ServerList, TheUserIsToldOnce) {
  ServerList list({"a:1", "b:1"});
  ServerList::Search search(list, kNow);
  EXPECT_FALSE(search.should_tell(kNow + 500ms));
  EXPECT_TRUE(search.should_tell(kNow + 1s));
  EXPECT_FALSE(search.should_tell(kNow + 2s));
}

}  // namespace
}  // namespace hai::cli
