// Who comes in by whatever way, and whose sessions end by it; and changes of accounts that meet.

#include "server/api/sign_in.h"

#include "server/api/account_changes.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "server/auth/token.h"
#include "tests/support/kept_audit.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;
using GotSession = Result<SignInDesk::Session>;

const Caller kServer{.is_server = true};

class SignInTest : public ::testing::Test {
 protected:
  void command(Command command) {
    std::optional<Result<CommandReply>> reply;
    server->controller.submit(kServer, std::move(command),
                              [&](Result<CommandReply> got) { reply = std::move(got); });
    w.run(1s);
    ASSERT_TRUE(reply && reply->is_ok()) << reply->status().message();
  }
  GotSession open(Person person) {
    std::optional<GotSession> got;
    desk.open(std::move(person), [&](GotSession result) { got = std::move(result); });
    w.run(1s);
    CHECK(got.has_value());
    return *got;
  }
  const User& user(const std::string& name) {
    const User* found = server->controller.state().find_user(name);
    CHECK(found != nullptr);
    return *found;
  }
  std::map<TokenScope, int> sessions_of(const std::string& name) {
    std::map<TokenScope, int> count;
    for (const auto& [hash, token] : server->controller.state().tokens()) {
      if (token.user == name && token.kind == TokenKind::session) ++count[token.scope];
    }
    return count;
  }

  ControllerWorld w;
  std::unique_ptr<Server> server = w.leader();
  CallerBoard board{[this] { return server->loop.wall_now(); }};
  KeptAudit log{server->loop};
  AuditTrail audit{server->loop, board, &log, [this] { return server->loop.wall_now(); }};
  AccountChanges accounts{server->controller, audit};
  SignInDesk desk{{.loop = server->loop,
                   .controller = server->controller,
                   .callers = board,
                   .accounts = accounts}};
};

// And nothing of whoever stays as he was.
TEST_F(SignInTest, WhatItMakesOfAnAccountIsAudited) {
  const auto as_provider = [](std::vector<std::string> groups, Role role) {
    return [groups, role](User user) {
      user.groups = groups;
      user.role = role;
      return user;
    };
  };
  EXPECT_TRUE(
      open({.user = "bob", .account = as_provider({"ml"}, Role::operator_), .may_be_new = true})
          .is_ok());
  EXPECT_TRUE(open({.user = "bob", .account = as_provider({"ml"}, Role::operator_)}).is_ok());
  EXPECT_TRUE(open({.user = "bob", .account = as_provider({"hpc"}, Role::user)}).is_ok());
  EXPECT_TRUE(open({.user = "bob"}).is_ok());
  std::vector<std::string> lines;
  for (const AuditEntry& entry : log.entries()) {
    EXPECT_EQ(entry.user + entry.token + entry.address, "") << "the server itself";
    lines.push_back(
        fmt::format("{} {} {}: {}", entry.call, entry.target, entry.result, entry.detail));
  }
  EXPECT_THAT(lines,
              ::testing::ElementsAre("sign_in user/bob ok: new user, role operator, joins ml",
                                     "sign_in user/bob ok: role user, joins hpc, leaves ml"));
}

TEST_F(SignInTest, SomebodyNewComesInOnlyWhereHeMay) {
  EXPECT_EQ(open({.user = "bob"}).status().code(), Code::permission_denied);
  EXPECT_EQ(server->controller.state().find_user("bob"), nullptr);
  EXPECT_EQ(open({.user = "bob", .may_be_new = true}).value().role, Role::user);
  EXPECT_TRUE(open({.user = "bob"}).is_ok()) << "he is not new any more";
}

TEST_F(SignInTest, WhoIsNotActiveStaysOut) {
  command(SetUser{{.name = "bob", .active = false}});
  const auto joins = [](User user) {
    user.groups = {"vision"};
    return user;
  };
  const GotSession got = open({.user = "bob", .account = joins, .may_be_new = true});
  EXPECT_EQ(got.status().code(), Code::permission_denied);
  EXPECT_TRUE(user("bob").groups.empty()) << "and nothing of him has changed";
  EXPECT_TRUE(sessions_of("bob").empty());
}

TEST_F(SignInTest, ATokenThatOnlyReadsEndsNoOtherSessions) {
  constexpr int kMost = SignInDesk::kSessionsMax;
  command(SetUser{{.name = "olga", .role = Role::operator_}});
  ASSERT_TRUE(open({.user = "olga"}).is_ok());
  w.run(1s);
  for (int i = 0; i < kMost + 10; ++i) {
    ASSERT_TRUE(open({.user = "olga", .scope = TokenScope::read}).is_ok());
  }
  EXPECT_EQ(sessions_of("olga"),
            (std::map<TokenScope, int>{{TokenScope::read, kMost - 1}, {TokenScope::admin, 1}}));
  for (int i = 1; i < kMost; ++i) ASSERT_TRUE(open({.user = "olga"}).is_ok());
  EXPECT_EQ(sessions_of("olga"), (std::map<TokenScope, int>{{TokenScope::admin, kMost}}))
      << "those that may do less make room";
  const GotSession refused = open({.user = "olga", .scope = TokenScope::read});
  EXPECT_EQ(refused.status().code(), Code::resource_exhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("hai token revoke"));
  EXPECT_TRUE(open({.user = "olga", .scope = TokenScope::operate}).is_ok())
      << "she is no more than an operator by any of them";
  EXPECT_EQ(sessions_of("olga")[TokenScope::admin], kMost - 1);
  w.run(SignInDesk::kSessionMax);
  EXPECT_TRUE(open({.user = "olga", .scope = TokenScope::read}).is_ok()) << "those are over";
}

// 3,279 sessions in 20 s by a token that only reads stayed in the store for ever.
TEST_F(SignInTest, OfOnePersonAreSoManyAMinute) {
  command(SetUser{{.name = "bob"}});
  command(SetUser{{.name = "eve"}});
  const auto signs_in = [&](const std::string& name, TokenScope scope, int times) {
    int taken = times;
    for (int i = 0; i < times; ++i) {
      desk.open({.user = name, .scope = scope}, [&](const GotSession& got) {
        if (got.status().code() != Code::resource_exhausted) return;
        EXPECT_THAT(got.status().message(), HasSubstr("sign in again in "));
        --taken;
      });
    }
    w.run(1s);
    return taken;
  };
  constexpr int kMost = SignInDesk::kSignInsPerMinute;
  EXPECT_EQ(signs_in("bob", TokenScope::read, 5 * kMost), kMost);
  EXPECT_EQ(signs_in("bob", TokenScope::admin, 1), 1) << "those that may do less shut nobody out";
  EXPECT_EQ(signs_in("eve", TokenScope::read, 1), 1);
  w.run(30s);
  const int more = signs_in("bob", TokenScope::read, kMost);
  EXPECT_GE(more, kMost / 2);
  EXPECT_LT(more, kMost);
}

// What the identity provider says of somebody is of his groups: it takes nothing back that an
// administrator does at that moment.
TEST_F(SignInTest, UndoesNothingThatHappensMeanwhile) {
  command(SetUser{{.name = "bob", .role = Role::admin}});
  const auto joins = [](User user) {
    user.groups = {"vision"};
    return user;
  };
  std::optional<GotSession> signed_in;
  std::optional<Result<User>> demoted;
  accounts.run(
      kServer, "bob",
      [](const User* known) {
        User less = *known;
        less.role = Role::user;
        return Result<std::optional<User>>(std::optional(less));
      },
      [&](Result<User> got) { demoted = std::move(got); });
  desk.open({.user = "bob", .account = joins}, [&](GotSession got) { signed_in = std::move(got); });
  w.run(1s);
  ASSERT_TRUE(demoted && demoted->is_ok() && signed_in && signed_in->is_ok());
  EXPECT_EQ(signed_in->value().role, Role::user);
  EXPECT_EQ(user("bob"), (User{.name = "bob", .groups = {"vision"}}));
}

TEST_F(SignInTest, ChangesOfOneAccountAreDoneInTheirOrder) {
  std::vector<int> done;
  for (int i = 0; i < 20; ++i) {
    accounts.run(
        kServer, "bob",
        [i](const User* known) -> Result<std::optional<User>> {
          User user = known == nullptr ? User{.name = "bob"} : *known;
          if (i == 7) return invalid_argument("not this one");
          if (i == 9) return std::optional<User>();
          user.groups.push_back("g" + std::to_string(i));
          return std::optional(user);
        },
        [&done, i](const Result<User>& user) {
          EXPECT_EQ(user.is_ok(), i != 7) << i;
          done.push_back(i);
        });
  }
  w.run(2s);
  EXPECT_EQ(done.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(user("bob").groups.size(), 18u) << "each has what those before it have done";
}

TEST_F(SignInTest, AnotherUsersAccountIsOnlyForAdministrators) {
  command(SetUser{{.name = "bob"}});
  std::optional<Result<User>> got;
  accounts.run(
      {.trusted_user = "bob"}, "bob",
      [](const User* known) {
        User more = *known;
        more.role = Role::admin;
        return Result<std::optional<User>>(std::optional(more));
      },
      [&](Result<User> result) { got = std::move(result); });
  w.run(1s);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->status().code(), Code::permission_denied);
  EXPECT_EQ(user("bob").role, Role::user);
}

}  // namespace
}  // namespace hai::test
