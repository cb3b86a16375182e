// Against the accounts that every Debian has. e2e.ldap_test has a directory behind them.

#include "server/directory/unix_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(UnixAccount, HasTheNameOfItsUid) {
  EXPECT_EQ(unix_name_of(0).value(), "root");
  EXPECT_EQ(unix_name_of(4'123'456'789).status().code(), Code::not_found);
}

TEST(UnixAccount, IsInItsGroups) {
  const auto groups = unix_groups_of("root", {"root", "daemon"}, 0);
  ASSERT_TRUE(groups.is_ok()) << groups.status().message();
  EXPECT_THAT(groups.value(), Contains("root"));
}

TEST(UnixAccount, OfTheSystemSaysNothing) {
  EXPECT_EQ(unix_groups_of("root", {"daemon"}).status().code(), Code::failed_precondition);
  EXPECT_EQ(unix_groups_of("root", {"no-such-group"}).status().code(), Code::failed_precondition);
}

TEST(UnixAccount, IsNotThereOnlyIfTheDirectoryAnswers) {
  const auto code = [](const std::vector<std::string>& named) {
    return unix_groups_of("no-such-user", named, 0).status().code();
  };
  EXPECT_EQ(code({"daemon"}), Code::not_found);
  EXPECT_EQ(code({"daemon", "no-such-group"}), Code::unavailable);
  EXPECT_EQ(code({}), Code::failed_precondition) << "nothing says that it answers";
}

TEST(UnixAccount, IsNotKnownWhileAGroupThatMustBeThereIsNot) {
  const Status status = unix_groups_of("root", {"root", "no-such-group"}, 0).status();
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_THAT(status.message(), HasSubstr("getent group no-such-group"));
}

}  // namespace
}  // namespace hai
