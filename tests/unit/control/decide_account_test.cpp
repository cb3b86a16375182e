// Users, quotas, tokens.

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

const std::string kHash(64, 'a');

TEST(Accounts, AreChangedByAdminsOnly) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("olga", {}, Role::operator_);
  const Quota quota{"bob", "training", Priority::low, 3};
  for (const Command& verb :
       {Command{SetUser{{.name = "bob"}}}, Command{SetQuota{quota}}, Command{RemoveQuota{quota}}}) {
    EXPECT_EQ(c.decide(verb, "olga").status().code(), Code::permission_denied);
    EXPECT_TRUE(c.decide(verb, "ann").is_ok());
  }
}

TEST(Accounts, SetTwiceChangeNothingMore) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const Quota quota{"bob", "training", Priority::low, 3};
  for (const Command& verb : {Command{SetUser{{.name = "bob"}}}, Command{SetQuota{quota}}}) {
    ASSERT_TRUE(c.decide(verb).is_ok());
    size_t before = c.events().size();
    ASSERT_TRUE(c.decide(verb).is_ok());
    EXPECT_EQ(c.events().size(), before);
  }
}

TEST(Users, AnAdminCanNotLockHimselfOut) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_EQ(
      c.decide(SetUser{{.name = "ann", .role = Role::admin, .active = false}}).status().code(),
      Code::failed_precondition);
  EXPECT_EQ(c.decide(SetUser{{.name = "ann", .role = Role::user}}).status().code(),
            Code::failed_precondition);
  EXPECT_EQ(c.decide(SetUser{{.name = ""}}).status().code(), Code::invalid_argument);
}

TEST(Quotas, MayComeBeforeTheNodes) {
  Cluster c = cluster();
  EXPECT_TRUE(c.decide(SetQuota{{"ann", "training", Priority::low, 1}}).is_ok());
}

TEST(Quotas, AreCheckedForSense) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob", {"vision"});
  auto code = [&](Quota quota) { return c.decide(SetQuota{quota}).status().code(); };
  EXPECT_EQ(code({"", "training", Priority::low, 1}), Code::invalid_argument);
  EXPECT_EQ(code({"bob", "", Priority::low, 1}), Code::invalid_argument);
  EXPECT_EQ(code({"bob", "training", Priority::automatic, 1}), Code::invalid_argument);
  EXPECT_EQ(code({"bob", "training", Priority::low, -1}), Code::invalid_argument);
  EXPECT_EQ(code({"bob", "training", Priority::low, Quota::kUnlimited + 1}),
            Code::invalid_argument);
  EXPECT_EQ(code({"bob", "training", Priority::low, Quota::kUnlimited}), Code::ok);
  EXPECT_EQ(code({"vision", "*", Priority::low, 1}), Code::ok) << "bob is in it";
  EXPECT_EQ(code({"public", "*", Priority::low, 1}), Code::ok);
  EXPECT_EQ(code({"bobb", "training", Priority::low, 1}), Code::not_found);
  EXPECT_EQ(code({"bob", "trainign", Priority::low, 1}), Code::not_found);
  EXPECT_EQ(c.decide(RemoveQuota{{"nobody", "x", Priority::low, 0}}).status().code(),
            Code::not_found);
}

TEST(Tokens, AreMadeAndRevokedByTheirUser) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("eve");
  EXPECT_TRUE(c.decide(AddToken{{.hash = kHash, .user = "bob"}}, "bob").is_ok());
  EXPECT_EQ(c.state().find_token(kHash)->created_at, c.now);
  EXPECT_EQ(c.decide(RevokeToken{kHash}, "eve").status().code(), Code::permission_denied);
  EXPECT_TRUE(c.decide(RevokeToken{kHash}, "bob").is_ok());
  EXPECT_EQ(c.decide(RevokeToken{kHash}, "bob").status().code(), Code::not_found);
}

TEST(Tokens, OfOthersAreForAdmins) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  EXPECT_EQ(c.decide(AddToken{{.hash = kHash, .user = "bob"}}, "olga").status().code(),
            Code::permission_denied);
  EXPECT_TRUE(c.decide(AddToken{{.hash = kHash, .user = "bob"}}, "ann").is_ok());
  EXPECT_EQ(c.decide(AddToken{{.hash = kHash, .user = "zoe"}}, "ann").status().code(),
            Code::not_found);
  EXPECT_EQ(c.decide(AddToken{{.hash = "short", .user = "bob"}}, "ann").status().code(),
            Code::invalid_argument);
}

TEST(Tokens, OfAnotherUserAreNotTakenOver) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  ASSERT_TRUE(c.decide(AddToken{{.hash = kHash, .user = "bob"}}, "bob").is_ok());
  ASSERT_TRUE(c.decide(AddToken{{.hash = kHash, .user = "ann"}}, "ann").is_ok());
  EXPECT_EQ(c.state().find_token(kHash)->user, "bob");
}

}  // namespace
}  // namespace hai::test
