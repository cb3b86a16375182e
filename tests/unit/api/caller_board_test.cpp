#include "server/api/caller_board.h"

#include <gmock/gmock.h>

#include "server/api/failure_limit.h"
#include "server/api/open_streams.h"
#include "server/api/sights.h"
#include "server/control/verbs/tokens.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

// Ann has the token "hash-a", the board follows what becomes of her.
struct World {
  Cluster c = cluster(nodes(1, gpus(8)));
  UnixTime now = c.now;
  CallerBoard board{[this] { return now; }};

  void tell(EventBody body) {
    c.emit(body);
    Event event;
    event.body = std::move(body);
    board.follow({event}, c.state());
  }
  World() {
    c.emit(UserSet{{.name = "ann"}});
    c.emit(TokenSet{{.hash = "hash-a", .user = "ann"}});
  }
  Code admit(const std::string& hash) const {
    const Status status = board.admit({.token_hash = hash});
    return status.is_ok() ? Code::ok : status.code();
  }
};

TEST(CallerBoard, LetsAllPassUntilItHasBeenTold) {
  World w;
  EXPECT_EQ(w.admit("nobody"), Code::ok) << "the loop decides";
  EXPECT_FALSE(w.board.knows({.token_hash = "hash-a"})) << "but nobody is known";
  w.tell(EpochStarted{Epoch{2}});
  EXPECT_EQ(w.admit("nobody"), Code::unauthenticated);
  EXPECT_EQ(w.admit("hash-a"), Code::ok);
  EXPECT_TRUE(w.board.knows({.token_hash = "hash-a"}));
  w.board.forget();
  EXPECT_EQ(w.admit("nobody"), Code::ok);
}

TEST(CallerBoard, SaysWhyInTheWordsOfTheLoop) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  EXPECT_THAT(w.board.admit({}).message(), HasSubstr("no token"));
  EXPECT_THAT(w.board.admit({.token_hash = "x"}).message(), HasSubstr("not known here"));
}

TEST(CallerBoard, FollowsTokensAndUsers) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "hash-b", .user = "ann"}});
  EXPECT_EQ(w.admit("hash-b"), Code::ok);
  w.tell(TokenRevoked{"hash-a"});
  EXPECT_EQ(w.admit("hash-a"), Code::unauthenticated);
  w.tell(UserSet{{.name = "ann", .active = false}});
  EXPECT_EQ(w.admit("hash-b"), Code::permission_denied);
  EXPECT_FALSE(w.board.knows({.token_hash = "hash-b"}));
}

TEST(CallerBoard, ForgetsAUserWhoIsRemoved) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  const int64_t before = w.board.accounts_version();
  w.tell(UserRemoved{"ann"});
  EXPECT_EQ(w.admit("hash-a"), Code::unauthenticated) << "whatever becomes of the token";
  EXPECT_FALSE(w.board.actor_of({.token_hash = "hash-a"}));
  EXPECT_GT(w.board.accounts_version(), before) << "others may see less now";
}

TEST(CallerBoard, ATokenEndsByTheClock) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "short", .user = "ann", .expires_at = w.now + 1h}});
  w.now += 1h - 1us;
  EXPECT_EQ(w.admit("short"), Code::ok);
  w.now += 1us;
  EXPECT_EQ(w.admit("short"), Code::unauthenticated) << "though no event has said so";
  EXPECT_FALSE(w.board.knows({.token_hash = "short"}));
  EXPECT_FALSE(w.board.has_tokens_to_remove());
  w.now += kOverTokensKept;
  EXPECT_TRUE(w.board.has_tokens_to_remove());
}

TEST(CallerBoard, ASessionHoldsAsLongAsItIsUsed) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "s", .user = "ann", .created_at = w.now, .kind = TokenKind::session}});
  for (int i = 0; i < 3; ++i) {
    w.now += kSessionIdleMax;
    EXPECT_EQ(w.admit("s"), Code::ok);
  }
  w.now += kSessionIdleMax;
  EXPECT_TRUE(w.board.check({.token_hash = "s"}).is_ok()) << "which is no use of it";
  w.now += 1us;
  EXPECT_EQ(w.admit("s"), Code::unauthenticated);
}

TEST(CallerBoard, NotesUsesNowAndThen) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "s", .user = "ann", .created_at = w.now, .kind = TokenKind::session}});
  EXPECT_TRUE(w.board.uses_to_note().empty()) << "nobody came";
  w.admit("hash-a");
  w.admit("s");
  w.admit("nobody");
  EXPECT_EQ(w.board.uses_to_note(), (std::map<std::string, UnixTime>{{"hash-a", w.now}}))
      << "the session is as young as that";
  w.tell(TokensUsed{{{"hash-a", w.now}}});
  w.now += 5min;
  w.admit("s");
  w.admit("hash-a");
  EXPECT_EQ(w.board.uses_to_note(), (std::map<std::string, UnixTime>{{"s", w.now}}))
      << "of the other one the hour is known";
  w.now += 1h;
  w.admit("hash-a");
  EXPECT_EQ(w.board.uses_to_note().count("hash-a"), 1u);
}

TEST(CallerBoard, TakesNoJoinTokenForACaller) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "join", .user = "ann", .kind = TokenKind::join, .uses_left = 1}});
  EXPECT_EQ(w.admit("join"), Code::unauthenticated);
  EXPECT_FALSE(w.board.knows({.token_hash = "join"}));
}

struct Streams : World {
  int looks = 0;  // at whose jobs somebody sees
  OpenStreams streams{board, {.per_user = 3, .logs_per_user = 2}, [this](const Actor& actor) {
                        ++looks;
                        return Sights(visibility).of(c.state(), actor);
                      }};
  std::vector<Status> ends;
  Visibility visibility = Visibility::team;

  Result<OpenStreams::Place> open(OpenStreams::Kind kind = OpenStreams::Kind::other,
                                  std::optional<Sight> shows = {}) {
    return streams.open(
        {.token_hash = "hash-a"}, kind, [this](const Status& why) { ends.push_back(why); },
        std::move(shows));
  }
  Streams() { tell(EpochStarted{Epoch{2}}); }
};

TEST(OpenStreams, EndWithTheirCaller) {
  Streams w;
  const auto first = w.open();
  const auto second = w.open(OpenStreams::Kind::log);
  w.streams.check();
  EXPECT_TRUE(w.ends.empty());
  w.tell(TokenRevoked{"hash-a"});
  w.streams.check();
  ASSERT_EQ(w.ends.size(), 2u);
  EXPECT_EQ(w.ends[0].code(), Code::unauthenticated);
  w.streams.check();
  EXPECT_EQ(w.ends.size(), 2u) << "once each";
}

TEST(OpenStreams, EndWhenTheirCallerIsNoOperatorAnyMore) {
  Streams w;
  w.tell(UserSet{{.name = "ann", .role = Role::admin}});
  const auto log = w.open(OpenStreams::Kind::log, Sight{});
  const auto asks_anew = w.open();
  w.tell(UserSet{{.name = "ann", .role = Role::operator_}});
  w.streams.check();
  EXPECT_TRUE(w.ends.empty()) << "an operator sees as much as an administrator";
  w.tell(UserSet{{.name = "ann"}});
  w.streams.check();
  ASSERT_EQ(w.ends.size(), 1u) << "the other one is judged at each answer";
  EXPECT_EQ(w.ends[0].code(), Code::permission_denied);
  EXPECT_THAT(w.ends[0].message(), HasSubstr("no operator any more"));
}

TEST(OpenStreams, EndThoughTheirCallerBecameAnOperatorAfterTheirBeginning) {
  Streams w;
  const auto log = w.open(OpenStreams::Kind::log, Sight{});
  w.tell(UserSet{{.name = "ann", .role = Role::operator_}});
  w.streams.check();
  w.tell(UserSet{{.name = "ann"}});
  w.streams.check();
  EXPECT_EQ(w.ends.size(), 1u);
}

TEST(OpenStreams, OfATokenWithoutTheScopeAreNoOperators) {
  Streams w;
  w.tell(UserSet{{.name = "ann", .role = Role::operator_}});
  w.tell(TokenSet{{.hash = "reads", .user = "ann", .scope = TokenScope::read}});
  const auto log = w.streams.open(
      {.token_hash = "reads"}, OpenStreams::Kind::log,
      [&w](const Status& why) { w.ends.push_back(why); }, Sight{});
  w.tell(UserSet{{.name = "ann"}});
  w.streams.check();
  EXPECT_TRUE(w.ends.empty()) << "it was none before";
}

TEST(OpenStreams, EndWhenTheirCallerSeesOtherPeoplesJobs) {
  Streams w;
  w.tell(UserSet{{.name = "ann", .groups = {"vision"}}});
  w.tell(UserSet{{.name = "bob", .groups = {"vision"}}});
  const auto events =
      w.open(OpenStreams::Kind::other,
             Sight{.of_others = Seen::nothing, .self = "ann", .team = {"ann", "bob"}});
  w.streams.check();
  w.streams.check();
  EXPECT_TRUE(w.ends.empty());
  EXPECT_EQ(w.looks, 1) << "nobody's account has changed since";
  w.tell(UserSet{{.name = "bob", .groups = {"nlp"}}});
  w.streams.check();
  ASSERT_EQ(w.ends.size(), 1u);
  EXPECT_EQ(w.ends[0].code(), Code::aborted);
}

TEST(OpenStreams, EndWhenTheSiteShowsLess) {
  Streams w;
  w.visibility = Visibility::open;
  const auto events =
      w.open(OpenStreams::Kind::other, Sight{.of_others = Seen::program, .self = "ann"});
  w.streams.look_again();
  EXPECT_TRUE(w.ends.empty()) << "it shows what it did";
  w.visibility = Visibility::own;
  w.streams.check();
  EXPECT_TRUE(w.ends.empty()) << "nobody has told";
  w.streams.look_again();
  ASSERT_EQ(w.ends.size(), 1u);
  EXPECT_EQ(w.ends[0].code(), Code::aborted);
}

TEST(OpenStreams, OfOperatorsGoOnWhateverTheSiteShowsOthers) {
  Streams w;
  w.tell(UserSet{{.name = "ann", .role = Role::operator_}});
  const auto events = w.open(OpenStreams::Kind::other, Sight{});
  w.visibility = Visibility::own;
  w.streams.look_again();
  EXPECT_TRUE(w.ends.empty());
}

TEST(OpenStreams, AreSoManyForOneUserWhateverHisTokens) {
  Streams w;
  w.tell(TokenSet{{.hash = "hash-b", .user = "ann"}});
  w.tell(UserSet{{.name = "bob"}});
  w.tell(TokenSet{{.hash = "hash-bob", .user = "bob"}});
  std::vector<Result<OpenStreams::Place>> places;
  places.push_back(w.open(OpenStreams::Kind::log));
  places.push_back(w.open(OpenStreams::Kind::log));
  EXPECT_EQ(w.open(OpenStreams::Kind::log).status().code(), Code::resource_exhausted);
  places.push_back(w.open());
  const auto another = w.streams.open({.token_hash = "hash-b"}, OpenStreams::Kind::other, nullptr);
  EXPECT_EQ(another.status().code(), Code::resource_exhausted);
  EXPECT_TRUE(w.streams.open({.token_hash = "hash-bob"}, OpenStreams::Kind::log, nullptr).is_ok());
  places.pop_back();
  EXPECT_TRUE(w.open().is_ok()) << "the place of one that was dropped";
}

TEST(OpenStreams, ASourceThatIsWaitedForEndsAtOnce) {
  Streams w;
  Done<std::optional<int>> wanted;
  Source<int> source = GuardedSource<int>::make(
      w.streams, {.token_hash = "hash-a"}, OpenStreams::Kind::other,
      [&wanted](Done<std::optional<int>> done) { wanted = std::move(done); });
  std::vector<Result<std::optional<int>>> got;
  const auto take = [&got](Result<std::optional<int>> answer) { got.push_back(std::move(answer)); };
  source(take);
  wanted(std::optional(7));
  source(take);
  w.tell(UserSet{{.name = "ann", .active = false}});
  w.streams.check();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].value(), 7);
  EXPECT_EQ(got[1].status().code(), Code::permission_denied);
  wanted(std::optional(8));
  source(take);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[2].status().code(), Code::permission_denied) << "and stays so";
}

TEST(FailureLimit, AnswersSoManyAMinuteOfEachAddress) {
  FailureLimit limit;
  const auto now = FailureLimit::Clock::now();
  for (int i = 0; i < FailureLimit::kFailuresMax; ++i) {
    EXPECT_TRUE(limit.may_try("10.0.0.1", now).is_ok());
    limit.note("10.0.0.1", now);
  }
  EXPECT_EQ(limit.may_try("10.0.0.1", now).code(), Code::resource_exhausted);
  EXPECT_TRUE(limit.may_try("10.0.0.2", now).is_ok());
  EXPECT_TRUE(limit.may_try("10.0.0.1", now + std::chrono::minutes(1)).is_ok());
}

}  // namespace
}  // namespace hai::test
