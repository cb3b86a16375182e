#include "server/auth/oidc_user.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

using Groups = std::vector<std::string>;

Claims claims(const std::string& user, std::optional<Groups> groups = std::nullopt) {
  return {.subject = "1", .user = user, .groups = std::move(groups)};
}

TEST(OidcUser, IsMadeOrNot) {
  EXPECT_EQ(user_of(claims("ann"), {}, nullptr).value(), User{.name = "ann"});
  EXPECT_EQ(user_of(claims("ann"), {.create_users = false}, nullptr).status().code(),
            Code::permission_denied);
  const User known{.name = "ann"};
  EXPECT_TRUE(user_of(claims("ann"), {.create_users = false}, &known).is_ok());
}

TEST(OidcUser, WhoIsNotActiveStaysOut) {
  const User known{.name = "ann", .active = false};
  EXPECT_EQ(user_of(claims("ann"), {}, &known).status().code(), Code::permission_denied);
}

TEST(OidcUser, NamesAreNames) {
  for (const char* bad : {"", "-rf", "a b", "../x", "ann\n", "a/b", "<b>"}) {
    EXPECT_EQ(user_of(claims(bad), {}, nullptr).status().code(), Code::permission_denied) << bad;
  }
}

TEST(OidcUser, GroupsAreTheProviders) {
  const User known{.name = "ann", .groups = {"old"}};
  EXPECT_EQ(user_of(claims("ann", Groups{"ml", "/physics", "public", "no name"}), {}, &known)
                .value()
                .groups,
            (Groups{"ml", "physics"}));
  EXPECT_EQ(user_of(claims("ann", Groups{}), {}, &known).value().groups, Groups{});
  EXPECT_EQ(user_of(claims("ann"), {}, &known).value().groups, Groups{"old"});
  Groups many;
  for (int i = 0; i < 500; ++i) many.push_back("g" + std::to_string(i));
  EXPECT_EQ(user_of(claims("ann", many), {}, &known).value().groups.size(), 64u);
}

// Of a role with a list, the list decides; of one without, the administrator of hai.
TEST(OidcUser, RolesComeFromTheGroupsThatHaveAList) {
  const auto role = [](Role now, const Groups& groups, const OidcConfig& config) {
    const User known{.name = "ann", .role = now};
    return user_of(claims("ann", groups), config, &known).value().role;
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
  EXPECT_EQ(user_of(claims("ann"), {.admin_groups = {"root-team"}}, &known).value().role,
            Role::user);
}

}  // namespace
}  // namespace hai
