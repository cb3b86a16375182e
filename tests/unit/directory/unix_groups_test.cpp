#include "server/directory/unix_groups.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

using Groups = std::vector<std::string>;

TEST(UnixGroups, ThoseThatMatchBecomeTheUsers) {
  const UnixGroupsConfig config{.groups = {"proj-*", "physics"}};
  const auto groups = [&](const Groups& now, const Groups& unix_groups) {
    return with_unix_groups(unix_groups, config, {.name = "ann", .groups = now}).groups;
  };
  EXPECT_EQ(groups({}, {"users", "proj-b", "proj-a", "physics", "physics-old"}),
            (Groups{"physics", "proj-a", "proj-b"}));
  EXPECT_EQ(groups({"proj-a", "by-hand"}, {"proj-b"}), (Groups{"by-hand", "proj-b"}))
      << "who left a group has left it; what was given by hand stays";
  EXPECT_EQ(groups({"proj-b", "by-hand", "physics"}, {"physics", "proj-b"}),
            (Groups{"proj-b", "by-hand", "physics"}))
      << "nothing new changes nothing, the order neither";
  EXPECT_EQ(groups({"proj-a"}, {}), Groups{});
}

TEST(UnixGroups, WhatNoGroupOfHaiCanBeIsLeftOut) {
  const UnixGroupsConfig config{.groups = {"*"}};
  const auto groups = [&](const Groups& unix_groups) {
    return with_unix_groups(unix_groups, config, {.name = "ann"}).groups;
  };
  EXPECT_EQ(groups({"domain users", "public", "-x", "ml"}), Groups{"ml"});
  Groups many;
  for (int i = 0; i < 500; ++i) many.push_back("g" + std::to_string(i));
  EXPECT_EQ(groups(many).size(), 64u);
}

TEST(UnixGroups, ARoleWithAListIsItsMembers) {
  const auto role = [](Role now, const Groups& unix_groups, const RoleGroups& roles) {
    return with_unix_groups(unix_groups, {.roles = roles}, {.name = "ann", .role = now}).role;
  };
  EXPECT_EQ(role(Role::user, {"hai-ops"}, {.operators = {"hai-ops"}}), Role::operator_);
  EXPECT_EQ(role(Role::operator_, {"users"}, {.operators = {"hai-ops"}}), Role::user);
  EXPECT_EQ(role(Role::admin, {"users"}, {.operators = {"hai-ops"}}), Role::admin);
  EXPECT_EQ(role(Role::admin, {"users"}, {.admin = {"hai-admins"}}), Role::user);
  EXPECT_EQ(role(Role::admin, {}, {}), Role::admin);
}

TEST(UnixGroups, TheirGroupsStayAsTheyAreWhereOnlyRolesAreAsked) {
  const User ann{.name = "ann", .groups = {"ml", "vision"}};
  EXPECT_EQ(with_unix_groups({"hai-ops"}, {.roles = {.operators = {"hai-ops"}}}, ann).groups,
            ann.groups);
}

TEST(UnixGroups, NamedAreThoseWithoutAPattern) {
  const UnixGroupsConfig config{.groups = {"proj-*", "physics", "[ab]", "c?"},
                                .roles = {.admin = {"hai-admins"}, .operators = {"hai-ops"}}};
  EXPECT_EQ(config.named(), (Groups{"hai-admins", "hai-ops", "physics"}));
}

}  // namespace
}  // namespace hai
