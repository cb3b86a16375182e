// Who a caller is, and which job he means.

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

TEST(Authenticate, KnowsTokensAndTrustedNames) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.emit(TokenSet{{.hash = "h", .user = "bob"}});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "h"}, UnixTime{}).value().user, "bob");
  EXPECT_EQ(authenticate(c.state(), {.trusted_user = "ann"}, UnixTime{}).value().role, Role::admin);
}

TEST(Authenticate, RefusesTheRest) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.emit(TokenSet{{.hash = "bob", .user = "bob"}});
  c.emit(TokenSet{{.hash = "gone", .user = "nobody"}});
  EXPECT_EQ(authenticate(c.state(), {}, UnixTime{}).status().code(), Code::unauthenticated);
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "x"}, UnixTime{}).status().code(),
            Code::unauthenticated);
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "gone"}, UnixTime{}).status().code(),
            Code::unauthenticated);
  c.emit(UserSet{{.name = "bob", .active = false}});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "bob"}, UnixTime{}).status().code(),
            Code::permission_denied);
  c.emit(TokenRevoked{"bob"});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "bob"}, UnixTime{}).status().code(),
            Code::unauthenticated);
}

// What a token of each kind and scope lets a user of each role be.
TEST(Authenticate, ATokenLetsNobodyBeMoreThanItsScope) {
  Cluster c = cluster(nodes(1, gpus(8)));
  for (Role role : {Role::user, Role::operator_, Role::admin}) {
    c.add_user("bob", {}, role);
    for (TokenScope scope :
         {TokenScope::read, TokenScope::submit, TokenScope::operate, TokenScope::admin}) {
      for (TokenKind kind : {TokenKind::api, TokenKind::session, TokenKind::join}) {
        c.emit(TokenSet{
            {.hash = "h", .user = "bob", .created_at = c.now, .kind = kind, .scope = scope}});
        const Result<Actor> actor = authenticate(c.state(), {.token_hash = "h"}, c.now);
        if (kind == TokenKind::join) {
          EXPECT_EQ(actor.status().code(), Code::unauthenticated);
          continue;
        }
        const Role most = scope == TokenScope::admin     ? Role::admin
                          : scope == TokenScope::operate ? Role::operator_
                                                         : Role::user;
        EXPECT_EQ(actor.value().role, std::min(role, most));
        EXPECT_EQ(actor.value().scope, scope);
      }
    }
  }
}

// What the contract says of a call holds whoever asks, whatever the call does afterwards.
TEST(Authenticate, HoldsCallersToWhatTheirCallNeeds) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.add_user("olga", {}, Role::operator_);
  for (const std::string user : {"bob", "olga", "ann"}) {
    for (TokenScope scope :
         {TokenScope::read, TokenScope::submit, TokenScope::operate, TokenScope::admin}) {
      c.emit(TokenSet{{.hash = fmt::format("{} {}", user, to_string(scope)),
                       .user = user,
                       .created_at = c.now,
                       .scope = scope}});
    }
  }
  const auto refusal = [&c](const std::string& token, Role role, TokenScope scope) {
    const Caller caller{.token_hash = token,
                        .needs = {.call = "Call", .role = role, .scope = scope}};
    return authenticate(c.state(), caller, c.now).status().message();
  };
  EXPECT_EQ(refusal("bob submit", Role::user, TokenScope::submit), "");
  EXPECT_EQ(refusal("bob read", Role::user, TokenScope::submit),
            "Call needs a token of scope submit: this one's is read");
  EXPECT_EQ(refusal("bob admin", Role::operator_, TokenScope::operate),
            "Call is for operators only: bob is a user");
  EXPECT_EQ(refusal("olga admin", Role::admin, TokenScope::admin),
            "Call is for admins only: olga is an operator");
  EXPECT_EQ(refusal("olga operate", Role::operator_, TokenScope::operate), "");
  EXPECT_EQ(refusal("ann operate", Role::admin, TokenScope::admin),
            "Call needs a token of scope admin: this one's is operate");
  EXPECT_EQ(refusal("ann admin", Role::admin, TokenScope::admin), "");
  const Caller trusted{.trusted_user = "bob", .needs = {.call = "Call", .role = Role::admin}};
  EXPECT_FALSE(authenticate(c.state(), trusted, c.now).is_ok());
}

TEST(Authenticate, TokensEndByTheClockAndSessionsWhenNobodyUsesThem) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const UnixTime made = c.now;
  c.emit(TokenSet{{.hash = "api", .user = "bob", .created_at = made, .expires_at = made + 24h}});
  c.emit(TokenSet{{.hash = "session",
                   .user = "bob",
                   .created_at = made,
                   .kind = TokenKind::session,
                   .expires_at = made + 12h}});
  c.emit(TokenSet{{.hash = "for ever", .user = "bob", .created_at = made}});
  const auto holds = [&](const std::string& hash, Duration later) {
    return authenticate(c.state(), {.token_hash = hash}, made + later).is_ok();
  };
  EXPECT_TRUE(holds("api", 24h - 1us));
  EXPECT_FALSE(holds("api", 24h));
  EXPECT_TRUE(holds("for ever", 24h * 3650));
  EXPECT_TRUE(holds("session", kSessionIdleMax));
  EXPECT_FALSE(holds("session", kSessionIdleMax + 1us)) << "nobody has used it";
  c.emit(TokensUsed{{{"session", made + 11h}}});
  EXPECT_TRUE(holds("session", 11h + kSessionIdleMax / 4));
  EXPECT_FALSE(holds("session", 12h)) << "however much it is used";
}

TEST(FindControllable, ByIdOrByTheCallersUnfinishedName) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  JobId anns = c.submit(job("train"));
  JobId bobs = c.submit(job("train").user("bob"));
  Actor bob{"bob", Role::user};
  Actor olga{"olga", Role::operator_};
  EXPECT_EQ(find_controllable(c.state(), bob, "train").value()->id, bobs);
  EXPECT_EQ(find_controllable(c.state(), bob, "2").value()->id, bobs);
  EXPECT_EQ(find_controllable(c.state(), olga, "1").value()->id, anns);
  EXPECT_EQ(find_controllable(c.state(), bob, "1").status().code(), Code::permission_denied);
  EXPECT_EQ(find_controllable(c.state(), olga, "train").status().code(), Code::not_found)
      << "a name means one's own job";
}

TEST(FindControllable, TellsMissingFromEnded) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.finish(c.submit(job("old")));
  ClusterState state = c.state();
  state.evict_finished(0);
  Actor ann{"ann", Role::admin};
  EXPECT_EQ(find_controllable(state, ann, "1").status().code(), Code::failed_precondition);
  EXPECT_EQ(find_controllable(state, ann, "2").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "-1").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "old").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "").status().code(), Code::not_found);
}

}  // namespace
}  // namespace hai::test
