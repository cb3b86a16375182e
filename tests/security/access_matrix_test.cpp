// Who may what: every call of the Api, over HTTP and gRPC, for everybody from nobody to an
// administrator, with tokens of every scope and with tokens that are no good any more. What is
// expected follows from the options in proto/hai/v1/api.proto and the few exceptions in the
// fixture. Here everybody sees the rows of all jobs; visibility_matrix_test.cpp asks the same under
// each `visibility`, and outside_matrix_test.cpp has what both leave out.

#include <gmock/gmock.h>

#include "server/api/call_needs.h"
#include "server/control/verbs/decide.h"
#include "tests/security/access_fixture.h"

namespace hai {
namespace {

// The table below asks the contract who may. That the contract says so is held here.
TEST_F(Access, IsForTheseByTheContract) {
  const std::map<std::string, std::set<std::string>> kBeyondUsers = {
      {"anyone", {"BeginSignIn", "JoinNode", "SignIn"}},
      {"owner",
       {"ControlJob", "EditJob", "MoveJob", "ReadLog", "RerunJob", "SearchLog", "SetJobPriority"}},
      {"operator", {"CloseIncident", "ControlNode", "ListKnobs", "ListNodeIdentities"}},
      {"admin",
       {"CreateJoinToken", "DeleteQuota", "GetDigest", "ListAudit", "ListJoinTokens", "RemoveUser",
        "RevokeJoinToken", "RevokeNodeIdentity", "SetKnob", "SetQuota", "SetUser", "UnsetKnob"}}};
  std::map<std::string, std::set<std::string>> said;
  for (int i = 0; i < api().method_count(); ++i) {
    const std::string role = role_needed(*api().method(i));
    if (role != "user") said[role].insert(api().method(i)->name());
  }
  EXPECT_EQ(said, kBeyondUsers);
}

// Operations hold their callers to the table; streams are none, and hold nobody to more than this.
TEST_F(Access, OfStreamsIsForWhomeverIsKnown) {
  std::set<std::string> streams;
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    if (!call.server_streaming()) continue;
    streams.insert(call.name());
    EXPECT_EQ(needs_of(call.name()).role, Role::user) << call.name();
    EXPECT_EQ(needs_of(call.name()).scope, TokenScope::read) << call.name();
  }
  EXPECT_EQ(streams, (std::set<std::string>{"ReadLog", "WatchEvents", "WatchJob"}));
}

TEST_F(Access, IsAsTheTableSays) {
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    if (role_needed(call) == "anyone") continue;  // who signs in or joins proves it in the request
    for (const Who& who : kPeople) {
      for (const TokenScope scope : kScopes) {
        expect(call, who.name, secret_of(who, scope), expected(call, who, scope),
               fmt::format("{} with a token of scope {}", who.name, to_string(scope)));
      }
    }
  }
  RecordProperty("asked", asked_);
  EXPECT_GT(asked_, 1'000);
  EXPECT_THAT(lacking_, ::testing::ElementsAre("GetHistory", "ListAudit"))
      << "a server without a database";
}

TEST_F(Access, IsNobodysWhoseTokenIsNoGoodAnyMore) {
  const UnixTime now = unix_micros(0) + std::chrono::duration_cast<Duration>(
                                            std::chrono::system_clock::now().time_since_epoch());
  add_token("hai_ends", {.user = LiveServer::kAdmin, .expires_at = now + 2s});
  add_token("hai_revoked", {.user = LiveServer::kAdmin});
  command(RevokeToken{hash_token("hai_revoked")});
  add_token("hai_idle", {.user = LiveServer::kAdmin,
                         .kind = TokenKind::session,
                         .last_used_at = now - kSessionIdleMax - 1min});
  add_token("hai_join", {.user = LiveServer::kAdmin,
                         .kind = TokenKind::join,
                         .expires_at = now + 1h,
                         .nodes = "n[1-4]",
                         .uses_left = 4});
  ASSERT_TRUE(server_.eventually([&](Controller&) {
    return unix_micros(0) + std::chrono::duration_cast<Duration>(
                                std::chrono::system_clock::now().time_since_epoch()) >
           now + 2s;
  }));
  const std::vector<std::string> tokens = {"",         "hai_made_up", "hai_ends",
                                           "hai_idle", "hai_revoked", "hai_join"};
  const int64_t before = last_seq();
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    if (role_needed(call) == "anyone" || call.name() == "RevokeToken") continue;
    for (const std::string& token : tokens) {
      expect(call, LiveServer::kAdmin, token, Outcome::unknown,
             token.empty() ? "nobody" : "the holder of " + token);
    }
  }
  EXPECT_EQ(last_seq(), before) << "and nothing was changed";
  for (const std::string& token : tokens) {
    expect(*api().FindMethodByName("RevokeToken"), LiveServer::kAdmin, token, Outcome::unknown,
           "the holder of " + token);
  }
}

// His tokens are known, and so is that he may nothing.
TEST_F(Access, IsDeniedToWhoIsNotActive) {
  command(SetUser{{.name = "olga", .role = Role::operator_, .active = false}});
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    if (role_needed(call) == "anyone") continue;
    expect(call, LiveServer::kAdmin, "hai_olga_admin", Outcome::denied, "olga, who is not active,");
  }
}

// Nothing that a token of scope read can do leaves a trace in the state.
TEST_F(Access, OfScopeReadChangesNothing) {
  const int64_t before = last_seq();
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    if (role_needed(call) == "anyone" || kOfAnyScope.contains(call.name())) continue;
    if (call.name() == "RevokeToken") continue;  // its example makes a token
    const std::string token = fmt::format("hai_{}_read", LiveServer::kAdmin);
    if (route_of(call)) ask_http(call, example(call, LiveServer::kAdmin), token);
    ask_grpc(call, example(call, LiveServer::kAdmin), token);
  }
  EXPECT_EQ(last_seq(), before);
}

}  // namespace
}  // namespace hai
