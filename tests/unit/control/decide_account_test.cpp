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

TEST(Users, GoWithAllTheyHave) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").set_quota("bob", "training", Priority::low, 3);
  ASSERT_TRUE(c.decide(AddToken{{.hash = kHash, .user = "bob"}}, "bob").is_ok());
  ASSERT_TRUE(c.decide(SetSecret{{.user = "bob", .name = "key", .sealed = "x"}}, "bob").is_ok());
  EXPECT_EQ(c.decide(RemoveUser{"bob"}, "bob").status().code(), Code::permission_denied);
  ASSERT_TRUE(c.decide(RemoveUser{"bob"}).is_ok());
  EXPECT_EQ(c.state().find_user("bob"), nullptr);
  EXPECT_EQ(c.state().find_token(kHash), nullptr);
  EXPECT_EQ(c.state().find_secret("bob", "key"), nullptr);
  EXPECT_FALSE(c.state().quotas().contains({"bob", "training", Priority::low}));
  EXPECT_EQ(c.decide(RemoveUser{"bob"}).status().code(), Code::not_found);
  EXPECT_EQ(c.decide(RemoveUser{"ann"}).status().code(), Code::failed_precondition);
}

TEST(Users, StayWhileTheyHaveJobs) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const JobId id = c.run(job("j").user("bob"), {"node-1"});
  const size_t before = c.events().size();
  EXPECT_EQ(c.decide(RemoveUser{"bob"}).status().code(), Code::failed_precondition);
  EXPECT_EQ(c.events().size(), before);
  c.finish(id);
  EXPECT_TRUE(c.decide(RemoveUser{"bob"}).is_ok());
  EXPECT_TRUE(c.plan().starts.empty()) << "a pass goes on without him";
}

TEST(Users, LeaveAGroupOfTheirNameItsQuotas) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("vision").add_user("bob", {"vision"});
  c.set_quota("vision", "training", Priority::low, 3);
  ASSERT_TRUE(c.decide(RemoveUser{"vision"}).is_ok());
  EXPECT_TRUE(c.state().quotas().contains({"vision", "training", Priority::low}));
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

TEST(Tokens, OfOneUserAreSoMany) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("eve");
  const auto add = [&](const std::string& user, int number, TokenKind kind = TokenKind::api) {
    std::string hash = std::to_string(number);
    hash.insert(0, 64 - hash.size(), '0');
    const Token token{.hash = hash, .user = user, .kind = kind, .scope = TokenScope::submit};
    return c.decide(AddToken{token}, user).status();
  };
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(add("bob", 1'000 + i, TokenKind::session).is_ok());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(add("bob", i).is_ok()) << "sessions do not count";
  const Status refused = add("bob", 100);
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_NE(refused.message().find("hai token revoke"), std::string::npos) << refused.message();
  EXPECT_TRUE(add("bob", 99).is_ok()) << "which is there already";
  EXPECT_TRUE(add("bob", 2'000, TokenKind::session).is_ok());
  EXPECT_TRUE(add("eve", 3'000).is_ok()) << "she has her own";
  ASSERT_TRUE(c.decide(RevokeToken{std::string(64, '0')}, "bob").is_ok());
  EXPECT_TRUE(add("bob", 100).is_ok());
}

// Servers take over from each other, and their clocks differ.
TEST(NodeIdentities, AreRevokedThoughTheClockThatIssuedThemWasAhead) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto revoked_at = [&] { return c.state().find_identity("node-1")->revoked_at; };
  NodeIdentity issued{.node = "node-1", .serial = "01", .issued_at = c.now + 10min};
  ASSERT_TRUE(c.decide(IssueNodeIdentity{.identity = issued}).is_ok());
  ASSERT_TRUE(c.decide(RevokeNodeIdentity{.node = "node-1"}).is_ok());
  EXPECT_EQ(revoked_at(), c.now + 10min);
  issued.issued_at = c.now + 5min;
  ASSERT_TRUE(c.decide(IssueNodeIdentity{.identity = issued}).is_ok());
  ASSERT_TRUE(c.decide(RevokeNodeIdentity{.node = "node-1"}).is_ok());
  EXPECT_EQ(revoked_at(), c.now + 10min) << "what was revoked stays so";
  c.now += 1h;
  ASSERT_TRUE(c.decide(RevokeNodeIdentity{.node = "node-1"}).is_ok());
  EXPECT_EQ(revoked_at(), c.now);
}

}  // namespace
}  // namespace hai::test
