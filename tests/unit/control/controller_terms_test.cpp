// Winning a term, keeping it, giving it up; and that an old leader can do no harm.

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::IsEmpty;

TEST(Term, OnlyOneServerLeads) {
  ControllerWorld w;
  auto a = w.leader("a");
  auto b = w.server("b");
  b->controller.start();
  w.run(1min);
  EXPECT_TRUE(a->controller.is_leading());
  EXPECT_FALSE(b->controller.is_leading());
  auto answer = submit(*b, job("j"));
  w.run(1ms);
  EXPECT_EQ(answer->code(), Code::unavailable);
  EXPECT_NE(b->controller.standing().reason, "");
}

TEST(Term, AStandbyTakesOverWithinSeconds) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  auto accepted = submit(*a, job("j").nodes(1));
  auto b = w.server("b");
  b->controller.start();
  w.run(1s);
  ASSERT_TRUE(accepted->is_ok());
  a.reset();  // kill -9
  w.run(3s);
  ASSERT_TRUE(b->controller.is_leading());
  EXPECT_EQ(b->controller.state().epoch(), Epoch{2});
  EXPECT_NE(b->controller.state().find_unfinished("ann", "j"), nullptr);
}

// A second server has just taken over two nodes, of which only node-1 has reported to it, and a job
// that wants one of them has been submitted.
class TermOfTwoNodes : public testing::Test {
 protected:
  TermOfTwoNodes() {
    auto first = world_.leader("a");
    world_.connect(*first, 1, "node-1");
    world_.connect(*first, 2, "node-2");
    world_.run(1s);
    leader_->controller.start();
    first.reset();
    world_.run(2100ms);
    EXPECT_TRUE(leader_->controller.is_leading());
    world_.connect(*leader_, 1, "node-1");
    accepted_ = submit(*leader_, job("j").nodes(1));
  }
  bool is_placed() const {
    const Job* found = leader_->controller.state().find_unfinished("ann", "j");
    return found != nullptr && found->has_live_attempt();
  }

  ControllerWorld world_;
  std::unique_ptr<Server> leader_ = world_.server("b");
  std::shared_ptr<Answer> accepted_;
};

// The first node to speak must not be given what the second one is about to say that it has: a
// store that went back unnoticed started an attempt twice (sim --store-goes-back seed 895393135).
TEST_F(TermOfTwoNodes, BeginsByListening) {
  world_.run(1s);
  ASSERT_TRUE(accepted_->is_ok());
  EXPECT_FALSE(is_placed()) << "node-2 has not reported";
  world_.connect(*leader_, 2, "node-2");
  world_.run(100ms);
  EXPECT_TRUE(is_placed());
}

TEST_F(TermOfTwoNodes, ListensForAHeartbeatAtMost) {
  world_.run(Knobs{}.heartbeat + 1s);
  EXPECT_TRUE(is_placed());
}

// What it says is as it was before, so nothing changes but that everybody has been heard.
TEST(Term, PlansAtOnceWhenTheLastNodeHasReportedThoughItBringsNoNews) {
  ControllerWorld w;
  w.knobs.plan_period = 20s;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  w.connect(*a, 2, "node-2");
  submit(*a, job("old").begin_at(a->loop.wall_now() + 1h));
  send(*a, StopJob{"old", ""});
  w.run(100ms);
  const std::vector<RankStatus> stray = {{.key = {JobId{1}, 1, 0}, .phase = RankPhase::running}};
  w.report(*a, 2, 2, stray);
  ASSERT_EQ(a->controller.state().find_node("node-2")->liveness, Liveness::suspect);
  auto b = w.server("b");
  b->controller.start();
  a.reset();
  w.run(2500ms);
  ASSERT_TRUE(b->controller.is_leading());
  w.connect(*b, 1, "node-1");
  submit(*b, job("j"));
  w.run(500ms);
  const Job& waits = *b->controller.state().find_unfinished("ann", "j");
  ASSERT_FALSE(waits.has_live_attempt()) << "node-2 has not reported";
  b->controller.agent_connected(ConnectionId{2}, "node-2");
  b->controller.agent_report(ConnectionId{2},
                             {.node = "node-2",
                              .sequence = 1,
                              .facts = b->controller.state().find_node("node-2")->facts,
                              .ranks = stray});
  w.run(100ms);
  EXPECT_TRUE(waits.has_live_attempt());
}

// A client whose answer was lost asks the next leader; by then its job may have ended. Found by
// tests/e2e/chaos: it was run a second time.
TEST(Term, ARequestIsAnsweredWithItsJobWhoeverLeads) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  auto first = submit(*a, job("j").request("r").begin_at(UnixTime{} + 1'000'000h));
  w.run(1s);
  ASSERT_TRUE(first->is_ok());
  auto stopped = send(*a, StopJob{"j", "test"});
  w.run(10s);
  ASSERT_TRUE(stopped->is_ok());
  auto b = w.server("b");
  b->controller.start();
  a.reset();
  w.run(3s);
  ASSERT_TRUE(b->controller.is_leading());
  EXPECT_EQ(b->controller.state().find(first->reply->value().job), nullptr) << "it has ended";
  auto again = submit(*b, job("j").request("r"));
  w.run(1s);
  ASSERT_TRUE(again->is_ok());
  EXPECT_EQ(again->reply->value().job, first->reply->value().job);
}

TEST(Term, AStoppedServerReleasesItsLeaseAtOnce) {
  ControllerWorld w;
  auto a = w.leader("a");
  auto b = w.server("b");
  b->controller.start();
  bool done = false;
  a->controller.stop([&] { done = true; });
  w.run(300ms);
  EXPECT_TRUE(done);
  EXPECT_TRUE(b->controller.is_leading());
  auto answer = submit(*a, job("j"));
  w.run(1ms);
  EXPECT_EQ(answer->code(), Code::unavailable);
  w.run(1min);
  EXPECT_EQ(a->controller.mode(), Controller::Mode::stopped);
}

TEST(Term, StoppingAStandbyIsDoneAtOnce) {
  ControllerWorld w;
  auto a = w.leader("a");
  auto b = w.server("b");
  b->controller.start();
  bool done = false;
  b->controller.stop([&] { done = true; });
  w.run(1s);
  EXPECT_TRUE(done);
  EXPECT_TRUE(a->controller.is_leading());
}

TEST(Fencing, APausedLeaderSaysNothingWhenItWakesUp) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  auto b = w.server("b");
  b->controller.start();
  // The old leader has inputs and an order to give when it is stopped.
  a->loop.pause(10s);
  auto old = submit(*a, job("old"));
  a->controller.agent_report(ConnectionId{1}, {.sequence = 2});
  w.run(9s);
  ASSERT_TRUE(b->controller.is_leading());
  w.connect(*b, 7, "node-1");
  a->agents.sent.clear();
  w.run(10s);
  EXPECT_THAT(a->agents.sent, IsEmpty());
  EXPECT_EQ(old->code(), Code::unavailable);
  EXPECT_FALSE(a->controller.is_leading());
  EXPECT_EQ(w.database.epoch(), Epoch{2});
}

TEST(Fencing, ALoneServerThatWasPausedTakesNobodyForSilent) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  w.connect(*a, 2, "node-2");
  a->loop.pause(w.knobs.down_after + 20s);
  w.run(w.knobs.down_after + 21s);
  ASSERT_TRUE(a->controller.is_leading()) << "nobody else wants to";
  for (const auto& [id, node] : a->controller.state().nodes()) {
    EXPECT_NE(node.liveness, Liveness::down) << node.facts.name;
  }
}

TEST(Fencing, AShortPauseOfALoneServerMakesNobodySuspect) {
  ControllerWorld w;
  w.knobs.heartbeat = 1s;  // who says nothing for more than 3 s is silent
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  a->loop.pause(3500ms);
  w.run(3600ms);
  ASSERT_TRUE(a->controller.is_leading());
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::up);
  w.run(4s);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::suspect);
}

TEST(Fencing, ATurnWithoutEventsNeedsALeaseToo) {
  ControllerWorld w;
  auto a = w.leader("a");
  auto b = w.server("b");
  b->controller.start();
  a->loop.pause(10s);
  bool read = false;
  bool refused = false;
  a->controller.read(
      {.trusted_user = "ann"}, [&](const Controller::ReadContext&, const Actor&) { read = true; },
      [&](Status) { refused = true; });
  w.run(15s);
  EXPECT_FALSE(read) << "what it knows is old by now";
  EXPECT_TRUE(refused);
}

TEST(Renewal, SurvivesAShortOutageOfTheDatabase) {
  ControllerWorld w;
  auto a = w.leader("a");
  MonoTime until = w.timeline.now() + w.knobs.server_lease / 2;
  w.database.hooks.fault = [&] {
    return w.timeline.now() < until ? MemFault::fail_before : MemFault::ok;
  };
  w.run(1min);
  EXPECT_TRUE(a->controller.is_leading());
  EXPECT_EQ(w.database.epoch(), Epoch{1});
}

TEST(Renewal, ThatFailsForALeaseEndsTheTerm) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.database.hooks.fault = [&] { return MemFault::fail_before; };
  w.run(w.knobs.server_lease + 1s);
  EXPECT_FALSE(a->controller.is_leading());
  EXPECT_EQ(a->controller.stats().step_downs, 1);
  w.database.hooks.fault = nullptr;
  w.run(5s);
  EXPECT_TRUE(a->controller.is_leading()) << "it comes back by itself";
}

TEST(Renewal, AbortedEndsTheTermAtOnce) {
  ControllerWorld w;
  auto a = w.leader("a");
  int64_t step_downs = a->controller.stats().step_downs;
  w.fault = MemFault::abort;
  w.run(w.knobs.server_lease / 2);
  EXPECT_EQ(a->controller.stats().step_downs, step_downs + 1);
}

TEST(Bootstrap, HappensOnce) {
  ControllerWorld w;
  w.bootstrap.admin_token_hash = std::string(64, 'a');
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  EXPECT_EQ(a->controller.state().find_user("ann")->role, Role::admin);
  ASSERT_NE(a->controller.state().find_token(std::string(64, 'a')), nullptr);
  EXPECT_EQ(a->controller.state().quotas().size(), std::size(kPriorities));
  const Quota one{"public", "*", Priority::low, Quota::kUnlimited};
  auto removed = send(*a, RemoveQuota{one});
  w.run(100ms);
  ASSERT_TRUE(removed->is_ok());
  a.reset();
  w.run(5s);
  auto b = w.leader("b");
  EXPECT_EQ(b->controller.state().quotas().size(), std::size(kPriorities) - 1)
      << "what an admin has changed stays changed";
}

TEST(Bootstrap, QuotasThatWereAllRemovedStaySo) {
  ControllerWorld w;
  auto a = w.leader("a");
  for (Priority level : kPriorities) {
    const auto removed = send(*a, RemoveQuota{{"public", "*", level, Quota::kUnlimited}});
    w.run(100ms);
    ASSERT_TRUE(removed->is_ok());
  }
  a.reset();
  w.run(5s);
  auto b = w.leader("b");
  EXPECT_TRUE(b->controller.state().quotas().empty());
}

TEST(Bootstrap, ATokenThatWasRevokedStaysSo) {
  const std::string hash(64, 'a');
  ControllerWorld w;
  w.bootstrap.admin_token_hash = hash;
  auto a = w.leader("a");
  ASSERT_NE(a->controller.state().find_token(hash), nullptr);
  const auto revoked = send(*a, RevokeToken{hash});
  w.run(100ms);
  ASSERT_TRUE(revoked->is_ok());
  a.reset();
  w.run(5s);
  auto b = w.leader("b");
  EXPECT_EQ(b->controller.state().find_token(hash), nullptr);
}

// Who was administrator, or may write the config, names himself in it and restarts the server.
TEST(Bootstrap, MakesNobodyAdministratorWhereThereArePeople) {
  const std::string hash(64, 'a');
  ControllerWorld w;
  auto a = w.leader("a");
  const auto added = send(*a, SetUser{{.name = "zoe", .role = Role::admin}});
  w.run(100ms);
  ASSERT_TRUE(added->is_ok());
  Status removed = unavailable("not answered");
  a->controller.submit({.trusted_user = "zoe"}, RemoveUser{"ann"},
                       [&removed](const auto& reply) { removed = reply.status(); });
  w.run(100ms);
  ASSERT_TRUE(removed.is_ok()) << removed.message();
  w.bootstrap.admin_token_hash = hash;
  for (const char* name : {"ann", "mallory"}) {
    a.reset();
    w.run(5s);
    w.bootstrap.admin_user = name;
    a = w.leader("a");
    EXPECT_EQ(a->controller.state().find_user(name), nullptr);
    EXPECT_EQ(a->controller.state().find_token(hash), nullptr);
  }
}

TEST(Bootstrap, TheTokenEnds) {
  const std::string hash(64, 'a');
  ControllerWorld w;
  w.bootstrap.admin_token_hash = hash;
  w.bootstrap.admin_token_ttl = 10min;
  auto a = w.leader("a");
  const Token* token = a->controller.state().find_token(hash);
  ASSERT_NE(token, nullptr);
  ASSERT_TRUE(token->expires_at);
  EXPECT_EQ(*token->expires_at - token->created_at, 10min);
  Status before = unavailable("not answered");
  Status after = before;
  const auto read = [&](Status& outcome) {
    a->controller.read(
        {.token_hash = hash}, [&](const auto&, const Actor&) { outcome = ok(); },
        [&](const Status& why) { outcome = why; });
    w.run(1s);
  };
  read(before);
  EXPECT_TRUE(before.is_ok()) << before.message();
  w.run(10min);
  read(after);
  EXPECT_EQ(after.code(), Code::unauthenticated) << after.message();
}

TEST(Bootstrap, WithoutATokenMakesNone) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  EXPECT_NE(a->controller.state().find_user("ann"), nullptr);
  EXPECT_TRUE(a->controller.state().tokens().empty());
}

TEST(Takeover, TrustsNoNodeBeforeItReports) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  a.reset();
  w.run(3s);
  auto b = w.leader("b");
  EXPECT_EQ(b->controller.state().find_node("node-1")->liveness, Liveness::suspect);
  submit(*b, job("j"));
  w.run(1s);
  EXPECT_FALSE(b->controller.state().find(JobId{1})->has_live_attempt());
  w.connect(*b, 7, "node-1");
  w.run(1s);
  EXPECT_TRUE(b->controller.state().find(JobId{1})->has_live_attempt());
}

}  // namespace
}  // namespace hai::test
