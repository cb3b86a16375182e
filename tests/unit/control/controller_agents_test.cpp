// Agents' streams: who is heard, what is answered.

#include "server/control/nodes/fencing.h"
#include "tests/unit/control/agent_reports.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(Streams, AreRefusedByWhoDoesNotLead) {
  ControllerWorld w;
  auto a = w.leader("a");
  auto b = w.server("b");
  b->controller.start();
  b->controller.agent_connected(ConnectionId{5}, "node-1");
  EXPECT_THAT(b->agents.closed, SizeIs(1));
}

TEST(Streams, AReportIsAnsweredWithALease) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.run(w.knobs.heartbeat);
  w.report(*a, 1, 2);
  const std::vector<GrantLease> grants = a->agents.of<GrantLease>(ConnectionId{1});
  ASSERT_THAT(grants, SizeIs(2));
  for (int64_t sequence : {1, 2}) {
    const GrantLease& grant = grants[static_cast<size_t>(sequence - 1)];
    EXPECT_EQ(grant, (GrantLease{sequence, w.knobs.agent_lease, w.knobs.heartbeat,
                                 fence_after(w.knobs), grant.server_time}));
    EXPECT_GT(grant.server_time, UnixTime{}) << "clocks that are wrong are found by it";
  }
  EXPECT_EQ(a->agents.sent[0].order.epoch, Epoch{1});
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::up);
}

TEST(Streams, AReportThatAsksForNoLeaseGetsNone) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  for (int64_t sequence = 2; sequence < 10; ++sequence) {
    a->controller.agent_report(ConnectionId{1},
                               {.node = "node-1", .sequence = sequence, .is_news_only = true});
  }
  w.run(1s);
  EXPECT_THAT(a->agents.of<GrantLease>(ConnectionId{1}), SizeIs(1));
  w.report(*a, 1, 20);
  const std::vector<GrantLease> grants = a->agents.of<GrantLease>(ConnectionId{1});
  ASSERT_THAT(grants, SizeIs(2));
  EXPECT_EQ(grants[1].report_sequence, 20);
}

// Chaos seed 700002632: the report that asked was overtaken by one that did not, which made the
// node `up` without a grant. The next tick gave it up for its silence while launches were on their
// way.
TEST(Streams, ANodeThatWasSilentGetsALeaseWhateverItAsks) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.run(w.knobs.down_after - 1s);
  ASSERT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::suspect);
  a->controller.agent_report(ConnectionId{1},
                             {.node = "node-1", .sequence = 3, .is_news_only = true});
  w.report(*a, 1, 2);  // overtaken
  const std::vector<GrantLease> grants = a->agents.of<GrantLease>(ConnectionId{1});
  ASSERT_THAT(grants, SizeIs(2));
  EXPECT_EQ(grants[1].report_sequence, 3);
  w.run(2s);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::up);
}

// A store that is slow makes them wait: were only the first one granted, its lease could be over.
TEST(Streams, EachOfSeveralReportsThatWaitedGetsItsLease) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 1s;
  submit(*a, job("j"));
  w.run(1ms);
  for (int64_t sequence = 2; sequence < 5; ++sequence) w.report(*a, 1, sequence);
  w.latency = 1ms;
  w.run(1min);
  const std::vector<GrantLease> grants = a->agents.of<GrantLease>(ConnectionId{1});
  ASSERT_THAT(grants, SizeIs(4));
  EXPECT_EQ(grants.back().report_sequence, 4);
}

TEST(Streams, AReportIsHeardBeforeWhatWaitsInALongLine) {
  ControllerWorld w;
  w.knobs.append_batch_max = 8;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.run(w.knobs.heartbeat);
  w.latency = 1s;  // of each append, which the next turn waits for
  for (int i = 0; i < 100; ++i) submit(*a, job(fmt::format("j{}", i)));
  a->controller.agent_report(ConnectionId{1}, {.node = "node-1", .sequence = 2});
  w.run(2500ms);  // the turn under way, and the next one
  EXPECT_THAT(a->agents.of<GrantLease>(ConnectionId{1}), SizeIs(2));
  EXPECT_LT(a->controller.state().last_job().value, 30);
}

TEST(Streams, ManyReportsLeaveAQuarterOfATurnToPeople) {
  ControllerWorld w;
  w.knobs.append_batch_max = 8;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 10ms;  // of each append, which the next turn waits for
  const int64_t turns = a->controller.stats().turns;
  for (int i = 0; i < 6; ++i) submit(*a, job(fmt::format("j{}", i)));
  for (int64_t sequence = 2; sequence < 50; ++sequence) {
    a->controller.agent_report(ConnectionId{1}, {.node = "node-1", .sequence = sequence});
  }
  while (a->controller.state().last_job().value < 6) w.run(1ms);
  EXPECT_LE(a->controller.stats().turns - turns, 4);
}

TEST(Streams, RepeatedAndLateReportsAreIgnored) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.run(w.knobs.heartbeat);
  w.report(*a, 1, 5);
  w.run(w.knobs.heartbeat);
  w.report(*a, 1, 5);
  w.report(*a, 1, 4);
  EXPECT_THAT(a->agents.of<GrantLease>(ConnectionId{1}), SizeIs(2));
}

TEST(Streams, ANewOneReplacesTheOldOne) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  submit(*a, job("j"));
  w.run(50ms);
  RankKey key{JobId{1}, 1, 0};
  w.report(*a, 1, 2, {running(key)});
  a->controller.agent_connected(ConnectionId{2}, "node-1");
  EXPECT_THAT(a->agents.closed, ElementsAre(Pair(1, HasSubstr("connected again"))));
  w.report(*a, 1, 3, {});  // late, on the old stream: it must not lose the rank
  EXPECT_TRUE(a->controller.state().find(JobId{1})->has_live_attempt());
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(50ms);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::up);
}

TEST(Streams, ABrokenOneMakesTheNodeSuspectAtOnce) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(50ms);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::suspect);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness_reason, "its stream broke");
  EXPECT_EQ(w.database.events().back().actor, "server");
  // An old stream's end says nothing of a node that has a new one.
  w.connect(*a, 2, "node-1");
  w.connect(*a, 3, "node-1");
  a->controller.agent_disconnected(ConnectionId{2});
  w.run(50ms);
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::up);
}

TEST(Streams, GpuReadingsStandUntilOthersCome) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  const auto readings = [&] {
    return a->controller.soft_facts().sessions->find(NodeId{1})->gpu_readings.size();
  };
  EXPECT_EQ(readings(), 0U);
  AgentReport report{.node = "node-1", .sequence = 2};
  report.gpu_readings = std::vector<GpuReading>(8);
  a->controller.agent_report(ConnectionId{1}, report);
  w.run(50ms);
  EXPECT_EQ(readings(), 8U);
  w.report(*a, 1, 3);
  EXPECT_EQ(readings(), 8U);
}

TEST(Streams, ANodeInContactCannotBeFencedThoughItIsSuspect) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  const RankStatus stray{.key = {JobId{9}, 1, 0}, .phase = RankPhase::running};
  w.report(*a, 1, 2, {stray});
  ASSERT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::suspect);
  auto answer = send(*a, FenceNode{"node-1", "off"});
  w.run(50ms);
  EXPECT_EQ(answer->code(), Code::failed_precondition);
  EXPECT_THAT(std::string(answer->reply->status().message()),
              HasSubstr("has answered within the last 11s"));
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(12s);
  answer = send(*a, FenceNode{"node-1", "off"});
  w.run(50ms);
  EXPECT_TRUE(answer->is_ok());
  EXPECT_EQ(a->controller.state().find_node("node-1")->liveness, Liveness::down);
}

TEST(Streams, ARefusedAgentIsToldWhyAndCutOff) {
  ControllerWorld w;
  auto a = w.leader();
  a->controller.agent_connected(ConnectionId{1}, "node-1");
  AgentReport report{.node = "node-1", .sequence = 1};
  report.facts = NodeFacts{.name = "node-2", .group = "training", .gpus = 8};
  a->controller.agent_report(ConnectionId{1}, report);
  w.run(50ms);
  ASSERT_THAT(a->agents.of<RefuseAgent>(ConnectionId{1}), SizeIs(1));
  EXPECT_THAT(a->agents.closed, ElementsAre(Pair(1, HasSubstr("'node-2' in the facts"))));
  EXPECT_THAT(a->agents.of<GrantLease>(ConnectionId{1}), IsEmpty()) << "no lease without a name";
  EXPECT_TRUE(a->controller.state().nodes().empty());
}

TEST(Orders, GoToTheNodeOfTheRank) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.connect(*a, 2, "node-2");
  submit(*a, job("j").nodes(2));
  w.run(100ms);
  ASSERT_THAT(a->agents.of<LaunchRank>(ConnectionId{1}), SizeIs(1));
  ASSERT_THAT(a->agents.of<LaunchRank>(ConnectionId{2}), SizeIs(1));
  EXPECT_EQ(a->agents.of<LaunchRank>(ConnectionId{2})[0].key, (RankKey{JobId{1}, 1, 1}));
}

// The append of its placement took longer than the node's lease can last: the agent would refuse
// it, or run it after the node was given up.
TEST(Orders, NoLaunchLeavesForANodeWhoseLeaseMayBeOver) {
  ControllerWorld w;
  w.knobs.heartbeat = 1s;
  w.knobs.agent_lease = 3s;
  w.knobs.server_lease = 5s;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 3500ms;
  submit(*a, job("j"));
  w.run(1ms);
  w.latency = 1ms;
  w.run(3600ms);
  ASSERT_TRUE(a->controller.state().find(JobId{1})->has_live_attempt());
  EXPECT_THAT(a->agents.of<LaunchRank>(ConnectionId{1}), IsEmpty());
  for (int sequence = 2; sequence < 10; ++sequence) {
    w.report(*a, 1, sequence);
    w.run(1s);
  }
  EXPECT_THAT(a->agents.of<LaunchRank>(ConnectionId{1}), Not(IsEmpty()))
      << "it leaves as soon as the node has a lease again";
}

TEST(Orders, AreRepeatedUntilTheyShow) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  submit(*a, job("j"));
  for (int i = 0; i < 7; ++i) {
    w.report(*a, 1, 10 + i);
    w.run(1s);
  }
  size_t sent = a->agents.of<LaunchRank>(ConnectionId{1}).size();
  EXPECT_GE(sent, 2u);
  EXPECT_LE(sent, 4u) << "not with every report";
  w.report(*a, 1, 20, {running({JobId{1}, 1, 0})});
  w.run(5s);
  EXPECT_THAT(a->agents.of<LaunchRank>(ConnectionId{1}), SizeIs(sent));
}

TEST(Orders, AFinishedRankIsForgottenOnceThatIsDurable) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  submit(*a, job("j"));
  w.run(100ms);
  w.latency = 10ms;
  a->agents.on_send = [&](const AgentOrder& order) {
    if (!std::holds_alternative<ForgetRank>(order.body)) return;
    EXPECT_EQ(w.database.jobs().at(JobId{1}).state, JobState::succeeded);
  };
  w.report(*a, 1, 2, {exited({JobId{1}, 1, 0}, ExitCause::program, 0)});
  w.run(1s);
  EXPECT_THAT(a->agents.of<ForgetRank>(ConnectionId{1}), SizeIs(1));
}

TEST(Progress, IsSoftAndOfTheLatestAttemptOnly) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  submit(*a, job("j"));
  w.run(100ms);
  size_t events = w.database.events().size();
  RankStatus status = running({JobId{1}, 1, 0});
  w.report(*a, 1, 2, {status});
  events = w.database.events().size();
  status.progress_step = 70;
  w.report(*a, 1, 3, {status});
  status.key.attempt = 0;
  status.progress_step = 900;
  EXPECT_EQ(a->controller.soft_facts().progress->at(JobId{1}), 70);
  w.report(*a, 1, 4, {running({JobId{1}, 1, 0}), status});
  EXPECT_EQ(a->controller.soft_facts().progress->at(JobId{1}), 70);
  EXPECT_LE(w.database.events().size(), events + 1) << "only the stray makes the node suspect";
}

TEST(Takeover, FindsTheRanksThatRanOn) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  submit(*a, job("j"));
  w.run(100ms);
  RankKey key{JobId{1}, 1, 0};
  w.report(*a, 1, 2, {running(key)});
  a.reset();
  w.run(3s);
  auto b = w.leader("b");
  w.run(w.knobs.down_after - 5s);
  EXPECT_TRUE(b->controller.state().find(JobId{1})->has_live_attempt()) << "not given up yet";
  b->controller.agent_connected(ConnectionId{7}, "node-1");
  AgentReport report{.node = "node-1", .sequence = 100, .ranks = {running(key)}};
  report.facts = b->controller.state().find_node("node-1")->facts;
  b->controller.agent_report(ConnectionId{7}, report);
  w.run(1s);
  const Job& job = *b->controller.state().find(JobId{1});
  EXPECT_EQ(job.attempt->state, AttemptState::running);
  EXPECT_EQ(job.attempt_number(), 1);
  EXPECT_THAT(b->agents.of<LaunchRank>(ConnectionId{7}), IsEmpty());
  EXPECT_THAT(b->agents.of<KillRank>(ConnectionId{7}), IsEmpty());
}

// Its stream may have outlived its silence, with the row that was taken out.
TEST(Streams, AReportOfARemovedNodeIsOfANewOne) {
  ControllerWorld w;
  auto server = w.leader();
  w.connect(*server, 1, "n1");
  w.run(2min);
  const NodeId old{1};
  ASSERT_EQ(server->controller.state().find(old)->liveness, Liveness::down);
  const auto removed = send(*server, RemoveNode{"n1", "gone"});
  w.run(1s);
  ASSERT_TRUE(removed->is_ok());
  w.report(*server, 1, 2);
  w.run(1s);
  const ClusterState& state = server->controller.state();
  EXPECT_EQ(state.find(old)->liveness, Liveness::down);
  ASSERT_NE(state.find_node("n1"), nullptr);
  EXPECT_NE(state.find_node("n1")->id, old);
  EXPECT_EQ(state.find_node("n1")->liveness, Liveness::up);
}

TEST(Streams, WhatIsSetOfANodeStaysWhenItsAgentConnectsAgain) {
  ControllerWorld w;
  auto server = w.leader();
  w.connect(*server, 1, "n1");
  w.run(1s);
  const ClusterState& state = server->controller.state();
  const NodeFacts told = state.find_node("n1")->facts;
  const auto set = send(*server, SetNode{"n1", {.group = "debug", .labels = {{"ib"}}}});
  w.run(1s);
  ASSERT_TRUE(set->is_ok());
  const auto seen = state.last_seq();
  w.connect(*server, 2, "n1");
  w.run(1s);
  EXPECT_EQ(state.find_node("n1")->facts.group, "debug");
  EXPECT_EQ(state.find_node("n1")->told_facts(), told);
  for (const Event& event : w.database.events()) {
    EXPECT_TRUE(event.seq <= seen || !std::holds_alternative<NodeRegistered>(event.body));
  }
}

// What the peers of the old list would tell it nobody here knows: its silence would prove nothing,
// and a job given to it might run twice.
TEST(Streams, ANodeThatJoinsAgainGetsNothingUntilItsPeersAreKnown) {
  ControllerWorld w;
  auto server = w.leader();
  w.connect(*server, 1, "n1");
  w.run(2min);
  const auto removed = send(*server, RemoveNode{"n1", "gone"});
  w.run(1s);
  ASSERT_TRUE(removed->is_ok());

  int64_t sequence = 0;
  const auto report = [&](int64_t peers_version) {
    AgentReport said{.node = "n1", .sequence = ++sequence, .peers_version = peers_version};
    said.facts = NodeFacts{.name = "n1", .group = "training", .zone = "A", .leaf = "l", .gpus = 8};
    said.facts->peer_port = 1;
    server->controller.agent_report(ConnectionId{2}, said);
    w.run(50ms);
  };
  const auto node = [&]() -> const Node& { return *server->controller.state().find_node("n1"); };
  server->controller.agent_connected(ConnectionId{2}, "n1");
  report(7);
  EXPECT_EQ(node().liveness, Liveness::suspect);
  EXPECT_THAT(node().liveness_reason, HasSubstr("list of peers"));
  w.run(3s);
  ASSERT_TRUE(node().peers.named);
  EXPECT_EQ(node().peers.version, 8);
  report(7);
  EXPECT_EQ(node().liveness, Liveness::suspect) << "its new list has not come";
  report(8);
  EXPECT_EQ(node().liveness, Liveness::up);
}

}  // namespace
}  // namespace hai::test
