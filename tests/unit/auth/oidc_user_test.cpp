#include "server/auth/oidc_user.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

using Groups = std::vector<std::string>;

Claims claims(const std::string& user, std::optional<Groups> groups = std::nullopt) {
  return {.subject = "1", .user = user, .groups = std::move(groups)};
}

TEST(OidcUser, NamesAreNames) {
  EXPECT_TRUE(check_user_name(claims("ann.b-c_d@e+f"), {}).is_ok());
  for (const char* bad : {"", "-rf", "a b", "../x", "ann\n", "a/b", "<b>"}) {
    EXPECT_EQ(check_user_name(claims(bad), {}).code(), Code::permission_denied) << bad;
  }
}

TEST(OidcUser, OfSomebodyNewIsOnlyTheName) {
  EXPECT_EQ(account_of(claims("ann"), {}, {.name = "ann"}), User{.name = "ann"});
}

TEST(OidcUser, WhoIsNotActiveStaysSo) {
  EXPECT_FALSE(account_of(claims("ann"), {}, {.name = "ann", .active = false}).active);
}

TEST(OidcUser, GroupsAreTheProviders) {
  const User known{.name = "ann", .groups = {"old"}};
  EXPECT_EQ(
      account_of(claims("ann", Groups{"ml", "/physics", "public", "no name"}), {}, known).groups,
      (Groups{"ml", "physics"}));
  EXPECT_EQ(account_of(claims("ann", Groups{}), {}, known).groups, Groups{});
  EXPECT_EQ(account_of(claims("ann"), {}, known).groups, Groups{"old"});
  Groups many;
  for (int i = 0; i < 500; ++i) many.push_back("g" + std::to_string(i));
  EXPECT_EQ(account_of(claims("ann", many), {}, known).groups.size(), 64u);
}

// Of a role with a list, the list decides; of one without, the administrator of hai.
TEST(OidcUser, RolesComeFromTheGroupsThatHaveAList) {
  const auto role = [](Role now, const Groups& groups, const OidcConfig& config) {
    const User known{.name = "ann", .role = now};
    return account_of(claims("ann", groups), config, known).role;
  };
  const OidcConfig none;
  EXPECT_EQ(role(Role::admin, {}, none), Role::admin);
  EXPECT_EQ(role(Role::operator_, {}, none), Role::operator_);
  const OidcConfig admins{.admin_groups = {"root-team"}};
  EXPECT_EQ(role(Role::user, {"root-team"}, admins), Role::admin);
  EXPECT_EQ(role(Role::user, {"/root-team"}, admins), Role::admin);
  EXPECT_EQ(role(Role::admin, {"physics"}, admins), Role::user);
  EXPECT_EQ(role(Role::operator_, {}, admins), Role::operator_);
  const OidcConfig operators{.operator_groups = {"ops"}};
  EXPECT_EQ(role(Role::admin, {}, operators), Role::admin);
  EXPECT_EQ(role(Role::user, {"ops"}, operators), Role::operator_);
  EXPECT_EQ(role(Role::operator_, {}, operators), Role::user);
  const OidcConfig both{.admin_groups = {"root-team"}, .operator_groups = {"ops"}};
  EXPECT_EQ(role(Role::admin, {"ops"}, both), Role::operator_);
  EXPECT_EQ(role(Role::user, {"ops", "root-team"}, both), Role::admin);
  EXPECT_EQ(role(Role::admin, {}, both), Role::user);
}

TEST(OidcUser, WithoutTheClaimNobodyHasARoleByGroups) {
  const User known{.name = "ann", .role = Role::admin};
  EXPECT_EQ(account_of(claims("ann"), {.admin_groups = {"root-team"}}, known).role, Role::user);
}

}  // namespace
}  // namespace hai
