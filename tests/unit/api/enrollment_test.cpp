// Who gets a certificate, for which name and from when on. The certificates are made by a thread;
// all else is of virtual time.

#include "server/api/enrollment.h"

#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "common/tls/certificate.h"
#include "common/tls/request.h"
#include "server/api/identity_board.h"
#include "server/auth/token.h"
#include "tests/support/certificates.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;
using Got = Result<Enrollment::Certificate>;

constexpr Duration kLife = 10h;

// A loop of virtual time to which another thread may post: what it posts runs when it is told to.
class PostedTo final : public Loop {
 public:
  explicit PostedTo(Loop& loop) : loop_(loop) {}
  MonoTime now() const override { return loop_.now(); }
  UnixTime wall_now() const override { return loop_.wall_now(); }
  TimerId call_after(Duration delay, std::function<void()> callback) override {
    return loop_.call_after(delay, std::move(callback));
  }
  void cancel(TimerId timer) override { loop_.cancel(timer); }
  void post(std::function<void()> callback) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  void run_posted() {
    std::vector<std::function<void()>> posted;
    {
      const std::lock_guard lock(mutex_);
      posted.swap(posted_);
    }
    for (const auto& each : posted) each();
  }

 private:
  Loop& loop_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

class EnrollmentTest : public ::testing::Test {
 protected:
  EnrollmentTest() {
    EXPECT_TRUE(folder_.make().is_ok());
    EXPECT_TRUE(folder_.write_authority(make_authority().value()).is_ok());
    server = w.leader("a");
    loop = std::make_unique<PostedTo>(server->loop);
    enrollment = make(folder_.path(), folder_.certificate());
  }
  ~EnrollmentTest() override { std::filesystem::remove_all(path_); }

  std::unique_ptr<Enrollment> make(const std::string& authority, const std::string& believed) {
    return std::make_unique<Enrollment>(
        server->loop, server->controller,
        EnrollmentOptions{
            .authority = authority, .believed = believed, .cluster = "test", .life = kLife});
  }
  // Commands of the server itself.
  void command(Command command) {
    std::optional<Result<CommandReply>> reply;
    server->controller.submit({.is_server = true}, std::move(command),
                              [&](Result<CommandReply> got) { reply = std::move(got); });
    w.run(1s);
    ASSERT_TRUE(reply && reply->is_ok()) << reply->status().message();
  }
  Caller token(const std::string& nodes, int uses = 1, Duration ttl = 1h) {
    const std::string hash = hash_token("secret of " + nodes + std::to_string(++tokens_));
    Token token{.hash = hash, .user = "ann", .kind = TokenKind::join};
    token.scope = TokenScope::read;
    token.expires_at = server->loop.wall_now() + ttl;
    token.nodes = nodes;
    token.uses_left = uses;
    command(AddToken{token});
    return {.token_hash = hash};
  }
  // The thread signs when it comes to it: virtual time stands still meanwhile.
  template <typename Predicate>
  void run_until(Predicate is_over) {
    for (int i = 0; i < 10'000 && !is_over(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      loop->run_posted();
      w.run(Duration(1));
    }
    ASSERT_TRUE(is_over());
  }
  Got wait_for(std::optional<Got>& got) {
    run_until([&] { return got.has_value(); });
    CHECK(got.has_value());
    return *got;
  }
  Got join(const Caller& caller, const std::string& node, const AgentIdentity& machine = {}) {
    std::optional<Got> got;
    enrollment->join(
        caller, {.node = node, .machine = machine, .request = make_request(node).value().request},
        [&](Got result) { got = std::move(result); });
    return wait_for(got);
  }
  Got renew(const std::string& node, UnixTime begins) {
    std::optional<Got> got;
    enrollment->renew(node, begins, make_request(node).value().request,
                      [&](Got result) { got = std::move(result); });
    return wait_for(got);
  }
  CertificateFacts facts(const Got& got) {
    return read_certificate(got.value().certificate).value();
  }
  const NodeIdentity* identity(const std::string& node) {
    return server->controller.state().find_identity(node);
  }
  void revoke(const std::string& node) {
    command(RevokeNodeIdentity{.node = node, .reason = "lost"});
    Event event;
    event.body = NodeIdentitySet{.identity = *identity(node)};
    board.follow({event}, server->controller.state());
  }

  ControllerWorld w;
  std::string path_ = [] {
    std::string path = testing::TempDir() + "/hai-enroll-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    return path;
  }();
  AuthorityFolder folder_{path_};
  int tokens_ = 0;  // so far
  IdentityBoard board;
  std::unique_ptr<Server> server;
  std::unique_ptr<PostedTo> loop;
  std::unique_ptr<Enrollment> enrollment;
};

TEST_F(EnrollmentTest, OfANameInTheListIsDurableBeforeItIsHandedOut) {
  const Caller caller = token("node-[1-3]", 2);
  const Got got = join(caller, "node-2");
  ASSERT_TRUE(got.is_ok()) << got.status().message();
  EXPECT_EQ(facts(got).node, "node-2");
  EXPECT_EQ(got.value().authorities, folder_.read().value().certificate);
  EXPECT_EQ(got.value().cluster, "test");
  ASSERT_NE(identity("node-2"), nullptr);
  EXPECT_FALSE(identity("node-2")->serial.empty());
  EXPECT_EQ(identity("node-2")->joined_with, token_id(caller.token_hash));
  EXPECT_EQ(server->controller.state().find_token(caller.token_hash)->uses_left, 1);
}

TEST_F(EnrollmentTest, IsRefusedForAnotherNameAWrongTokenOneUsedUpAndOneOver) {
  const Caller caller = token("node-[1-3]");
  const Got other = join(caller, "node-4");
  EXPECT_EQ(other.status().code(), Code::permission_denied);
  EXPECT_EQ(other.status().message(), "this join token is not for node-4, but for node-[1-3]");
  EXPECT_EQ(join({.token_hash = hash_token("x")}, "node-1").status().code(), Code::unauthenticated);
  EXPECT_EQ(join({}, "node-1").status().code(), Code::unauthenticated);
  ASSERT_TRUE(join(caller, "node-1").is_ok());
  EXPECT_THAT(join(caller, "node-2").status().message(), HasSubstr("was used up"));
  const Caller brief = token("node-9", 5, 1min);
  w.run(2min);
  EXPECT_THAT(join(brief, "node-9").status().message(), HasSubstr("the join token ended at"));
  EXPECT_EQ(identity("node-9"), nullptr);
}

// Its agent would be refused. Whose name it is may join again, and so may one who tells nothing.
TEST_F(EnrollmentTest, OfANameWhoseAgentAnswersIsRefusedToAnotherMachineAndTheTokenKeepsItsUse) {
  const AgentIdentity owner{
      .instance = "one", .machine = "m-1", .boot_id = "b-1", .address = "10.0.0.7"};
  const AgentIdentity other{.instance = "two", .machine = "m-2", .boot_id = "b-2"};
  server->controller.agent_connected(ConnectionId{1}, "node-1", owner);
  AgentReport report{.node = "node-1", .sequence = 1};
  report.facts = NodeFacts{.name = "node-1", .group = "training", .gpus = 8};
  report.facts->instance = owner.instance;
  report.facts->machine = owner.machine;
  report.facts->boot_id = owner.boot_id;
  report.facts->address = owner.address;
  server->controller.agent_report(ConnectionId{1}, report);
  w.run(50ms);
  const Caller caller = token("node-1", 3);
  const auto uses = [&] {
    return server->controller.state().find_token(caller.token_hash)->uses_left;
  };

  const Got refused = join(caller, "node-1", other);
  EXPECT_EQ(refused.status().code(), Code::already_exists);
  EXPECT_THAT(refused.status().message(), HasSubstr("belongs to the machine at 10.0.0.7"));
  EXPECT_EQ(uses(), 3);
  EXPECT_EQ(identity("node-1"), nullptr);
  EXPECT_TRUE(join(caller, "node-1", owner).is_ok());
  EXPECT_EQ(uses(), 2);
  EXPECT_TRUE(join(caller, "node-1").is_ok());
  EXPECT_EQ(uses(), 2) << "it counts nodes";
  // Its agent waits by itself until what may run on the silent one has ended.
  server->controller.agent_disconnected(ConnectionId{1});
  w.run(silence_limit(w.knobs) + 1s);
  EXPECT_TRUE(join(caller, "node-1", other).is_ok());
}

TEST_F(EnrollmentTest, OfSeveralAtOnceOnlySoManyAsTheTokenHasUses) {
  const Caller caller = token("node-[1-3]", 2);
  int taken = 0;
  int refused = 0;
  for (const std::string node : {"node-1", "node-2", "node-3"}) {
    enrollment->join(caller, {.node = node, .request = make_request(node).value().request},
                     [&](const Got& got) { ++(got.is_ok() ? taken : refused); });
  }
  run_until([&] { return taken + refused == 3; });
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(refused, 1);
}

// Its answer was lost, as when another server begins to lead: it asks again.
TEST_F(EnrollmentTest, ANodeThatAsksAgainTakesNoOtherUse) {
  const Caller caller = token("node-[1-3]", 2, 1h);
  ASSERT_TRUE(join(caller, "node-1").is_ok());
  const std::string first = identity("node-1")->serial;
  const Got again = join(caller, "node-1");
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_NE(identity("node-1")->serial, first);
  EXPECT_EQ(server->controller.state().find_token(caller.token_hash)->uses_left, 1);
  ASSERT_TRUE(join(caller, "node-2").is_ok());
  // Whoever finds one that is used up gets nothing by it, under no name.
  for (const char* node : {"node-1", "node-2", "node-3"})
    EXPECT_THAT(join(caller, node).status().message(), HasSubstr("was used up")) << node;
  // With another token it takes one of that.
  const Caller other = token("node-[1-3]", 1, 2h);
  ASSERT_TRUE(join(other, "node-1").is_ok());
  EXPECT_THAT(join(other, "node-2").status().message(), HasSubstr("was used up"));
  w.run(3h);
  EXPECT_THAT(join(other, "node-1").status().message(), HasSubstr("the join token ended at"));
}

TEST_F(EnrollmentTest, AfterARevocationBeginsAfterIt) {
  const Caller caller = token("node-1", 10);
  const Got first = join(caller, "node-1");
  ASSERT_TRUE(first.is_ok());
  EXPECT_LT(facts(first).begins, server->loop.wall_now() - 50min) << "for clocks that are late";
  w.run(300ms);
  revoke("node-1");
  EXPECT_FALSE(board.admit("node-1", facts(first).begins).is_ok());
  EXPECT_EQ(renew("node-1", facts(first).begins).status().code(), Code::permission_denied);
  w.run(2s);
  EXPECT_EQ(join(caller, "node-1").status().code(), Code::permission_denied)
      << "who has the node may have the token by which it joined";
  const Got second = join(token("node-1"), "node-1");
  ASSERT_TRUE(second.is_ok()) << second.status().message();
  EXPECT_TRUE(board.admit("node-1", facts(second).begins).is_ok());
  EXPECT_GT(facts(second).begins, *identity("node-1")->revoked_at);
  EXPECT_LE(facts(second).begins, server->loop.wall_now());
}

TEST_F(EnrollmentTest, RenewsNowAndThenAndNotAgainAndAgain) {
  const Got first = join(token("node-1"), "node-1");
  ASSERT_TRUE(first.is_ok());
  EXPECT_EQ(renew("node-1", facts(first).begins).status().code(), Code::resource_exhausted);
  w.run(kLife / 2);
  const Got second = renew("node-1", facts(first).begins);
  ASSERT_TRUE(second.is_ok()) << second.status().message();
  EXPECT_GT(facts(second).ends, facts(first).ends);
  EXPECT_FALSE(identity("node-1")->joined_with.empty()) << "it stays how it joined";
}

TEST_F(EnrollmentTest, SaysWhatIsWrongWithTheRequest) {
  std::optional<Got> got;
  enrollment->join(token("node-1"), {.node = "node-1", .request = "nonsense"},
                   [&](Got result) { got = std::move(result); });
  EXPECT_THAT(wait_for(got).status().message(), HasSubstr("csr: no request"));
  EXPECT_EQ(identity("node-1"), nullptr) << "and the token has all its uses";
}

TEST_F(EnrollmentTest, NeedsACaThatIsBelieved) {
  enrollment = make("", "");
  EXPECT_EQ(join(token("node-1"), "node-1").status().code(), Code::failed_precondition);
  TestAuthority other;
  enrollment = make(folder_.path(), other.ca());
  EXPECT_THAT(join(token("node-2"), "node-2").status().message(),
              HasSubstr("not among those of tls.client_ca"));
}

// A new CA holds for the next one, without a restart.
TEST_F(EnrollmentTest, IssuesWithTheCaThatIsThereThen) {
  const Caller caller = token("node-[1-2]", 2);
  const Got before = join(caller, "node-1");
  ASSERT_TRUE(folder_.rotate(make_authority().value()).is_ok());
  const Got after = join(caller, "node-2");
  ASSERT_TRUE(before.is_ok() && after.is_ok());
  const std::string own = own_certificate(folder_.read().value()).value();
  EXPECT_FALSE(is_issued_by(before.value().certificate, own));
  EXPECT_TRUE(is_issued_by(after.value().certificate, own));
  EXPECT_EQ(read_certificates(after.value().authorities).size(), 2u);
}

}  // namespace
}  // namespace hai::test
