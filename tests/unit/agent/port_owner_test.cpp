#include "agent/shim/port_owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using testing::HasSubstr;

constexpr const char* kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string line(const std::string& local, const std::string& remote, const char* state, int uid) {
  return "   0: " + local + " " + remote + " " + state +
         " 00000000:00000000 00:00000000 00000000  " + std::to_string(uid) + "        0 7 1\n";
}

// 22B8 is 8888, 9C40 is 40000.
const std::string kAny6 = std::string(32, '0');
const std::string kOwn6 = "0000000000000000FFFF00000100007F";

std::string listens(int uid, const std::string& at = "0100007F:22B8") {
  return line(at, "00000000:0000", "0A", uid);
}
std::string taken(int uid, const char* state = "01") {
  return line("0100007F:22B8", "0100007F:9C40", state, uid);
}
std::string taken6(int uid) { return line(kOwn6 + ":22B8", kOwn6 + ":9C40", "01", uid); }

Status judge(const std::string& tcp, const std::string& tcp6 = "") {
  return check_own_port({kHead + tcp, kHead + tcp6}, 8888, 40'000, 1000);
}

TEST(PortOwner, IsWhoListensThereAndHasTakenTheConnection) {
  EXPECT_TRUE(judge(listens(1000) + taken(1000)).is_ok());
  EXPECT_TRUE(judge(listens(1000) + taken(0)).is_ok()) << "nobody has taken it yet";
  EXPECT_TRUE(judge(listens(1000, "00000000:22B8") + taken(1000)).is_ok());
  EXPECT_TRUE(judge("", listens(1000, kAny6 + ":22B8") + taken6(1000)).is_ok());
  // Others elsewhere do not matter, nor do those who are not reached by an address of IPv4.
  EXPECT_TRUE(judge(listens(1000) + taken(1000) + listens(1001, "0100007F:22B9") +
                        listens(1001, "0A00000A:22B8") +
                        line("0100007F:22B8", "0100007F:9C41", "01", 1001),
                    listens(1001, kAny6 + ":22B8"))
                  .is_ok());
}

TEST(PortOwner, IsNobodyElse) {
  for (const int uid : {0, 1001}) {
    EXPECT_EQ(judge(listens(uid) + taken(1000)).code(), Code::permission_denied);
    EXPECT_EQ(judge("", listens(uid, kAny6 + ":22B8") + taken6(1000)).code(),
              Code::permission_denied);
  }
  EXPECT_FALSE(judge(listens(1000) + taken(1001)).is_ok()) << "who listened the moment before";
}

// Somebody listens first, takes the connection, says all he wants to and goes before anybody looks;
// then the user's own program listens.
TEST(PortOwner, IsNobodyWhoHasGone) {
  for (const char* state : {"04", "05", "06", "07", "08", "09", "0B"}) {
    EXPECT_THAT(judge(listens(1000) + taken(0, state)).message(), HasSubstr("cannot be seen"))
        << state;
  }
  EXPECT_FALSE(judge(listens(1000)).is_ok()) << "it is gone already";
  EXPECT_FALSE(judge("", listens(1000, kAny6 + ":22B8")).is_ok());
  EXPECT_FALSE(judge(taken(1000)).is_ok());
  EXPECT_FALSE(check_own_port({}, 8888, 40'000, 1000).is_ok());
}

}  // namespace
}  // namespace hai
