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

TEST(UnixAccount, OfTheSystemOrOfNobodySaysNothing) {
  EXPECT_EQ(unix_groups_of("root", {}).status().code(), Code::not_found);
  EXPECT_EQ(unix_groups_of("no-such-user", {}, 0).status().code(), Code::not_found);
}

TEST(UnixAccount, IsNotKnownWhileAGroupThatMustBeThereIsNot) {
  const Status status = unix_groups_of("root", {"root", "no-such-group"}, 0).status();
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_THAT(status.message(), HasSubstr("getent group no-such-group"));
}

}  // namespace
}  // namespace hai
