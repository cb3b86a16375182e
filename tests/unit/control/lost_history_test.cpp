// A store that has lost what was durable: it is noticed, said, and nothing runs twice for it.

#include "server/control/nodes/lost_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "server/control/nodes/agent_admission.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using Word = LostHistory::Word;

LogPosition at(int64_t epoch, int64_t seq) { return {Epoch{epoch}, seq}; }

TEST(LostHistory, IsNoneWhenEachTermBeginsWhereTheLastEnded) {
  LostHistory history;
  history.term_began(at(1, 0));
  history.appended(at(1, 50));
  EXPECT_EQ(history.heard("node-1", at(1, 50), MonoTime(1s)), Word::goes_on);
  EXPECT_EQ(history.heard("node-1", at(0, 0), MonoTime(1s)), Word::goes_on)
      << "a node that has seen nothing yet";
  history.term_began(at(3, 60));
  EXPECT_EQ(history.heard("node-1", at(2, 60), MonoTime(1s)), Word::goes_on);
  EXPECT_EQ(history.heard("node-1", at(1, 50), MonoTime(1s)), Word::goes_on);
  EXPECT_EQ(history.lost(), std::nullopt);
  EXPECT_EQ(history.floor(), Epoch{3});
}

TEST(LostHistory, IsNoticedByTheServerThatWroteIt) {
  LostHistory history;
  history.term_began(at(1, 0));
  history.appended(at(1, 50));
  history.term_began(at(2, 40));
  ASSERT_TRUE(history.lost());
  EXPECT_EQ(history.lost()->first, 41);
  EXPECT_EQ(history.lost()->last, 50);
  EXPECT_TRUE(history.settles(true, MonoTime(1s), 0s));
  history.term_began(at(3, 40));
  EXPECT_FALSE(history.lost()) << "said once";
}

TEST(LostHistory, IsNoticedByWhatNodesHaveSeen) {
  LostHistory history;
  history.term_began(at(5, 40));
  EXPECT_EQ(history.heard("node-1", at(4, 47), MonoTime(1s)), Word::goes_on);
  EXPECT_EQ(history.heard("node-1", at(4, 45), MonoTime(1s)), Word::goes_on);
  ASSERT_TRUE(history.lost());
  EXPECT_EQ(history.lost()->first, 41);
  EXPECT_EQ(history.lost()->last, 47);
  history.term_began(at(6, 30));
  EXPECT_EQ(history.lost()->first, 31) << "and further back, before all nodes are known";
  EXPECT_EQ(history.lost()->last, 47);
}

TEST(LostHistory, AnEpochThatWasGivenBeforeIsGivenUp) {
  LostHistory history;
  history.term_began(at(5, 40));
  EXPECT_EQ(history.heard("node-1", at(5, 44), MonoTime(1s)), Word::ends_term)
      << "this leader has written nothing yet";
  EXPECT_TRUE(history.lost());
  EXPECT_EQ(history.heard("node-2", at(7, 1), MonoTime(1s)), Word::ends_term);
  EXPECT_EQ(history.floor(), Epoch{7});
  history.leads_elsewhere(at(9, 44));
  EXPECT_EQ(history.floor(), Epoch{9});
}

TEST(LostHistory, OneNodesWordEndsNoTermAgainUntilSomeTimeHasPassed) {
  LostHistory history;
  history.term_began(at(1, 40));
  EXPECT_EQ(history.heard("liar", at(5, 1), MonoTime(1s)), Word::ends_term);
  history.term_began(at(6, 40));
  EXPECT_EQ(history.heard("liar", at(5, 1), MonoTime(2s)), Word::goes_on) << "it is below";
  EXPECT_EQ(history.heard("liar", at(9, 1), MonoTime(2s)), Word::not_taken);
  EXPECT_EQ(history.floor(), Epoch{6}) << "what was not taken counts for nothing";
  EXPECT_EQ(history.heard("liar", at(6, 1'000), MonoTime(2s)), Word::not_taken);
  EXPECT_FALSE(history.lost());
  EXPECT_EQ(history.heard("other", at(9, 1), MonoTime(3s)), Word::ends_term);
  history.term_began(at(10, 40));
  const MonoTime later = MonoTime(1s) + LostHistory::kEndsTermsApart;
  EXPECT_EQ(history.heard("liar", at(12, 1), later - 1s), Word::not_taken);
  EXPECT_EQ(history.heard("liar", at(12, 1), later), Word::ends_term);
}

TEST(LostHistory, IsNoticedByAStandbyThatWatched) {
  LostHistory history;
  history.leads_elsewhere(at(1, 80));
  history.term_began(at(2, 75));
  ASSERT_TRUE(history.lost());
  EXPECT_EQ(history.lost()->first, 76);
}

TEST(LostHistory, SettlesOnceAllNodesHaveBeenKnownForLongEnoughOnEnd) {
  LostHistory history;
  history.term_began(at(5, 40));
  history.found_evidence();
  ASSERT_TRUE(history.lost());
  EXPECT_EQ(history.lost()->first, 41);
  EXPECT_EQ(history.lost()->last, 41) << "one at least";
  EXPECT_FALSE(history.settles(true, MonoTime(10s), 5s));
  EXPECT_FALSE(history.settles(true, MonoTime(14s), 5s));
  EXPECT_FALSE(history.settles(false, MonoTime(15s), 5s)) << "a node is away";
  EXPECT_FALSE(history.settles(true, MonoTime(16s), 5s));
  EXPECT_TRUE(history.lost());
  EXPECT_TRUE(history.settles(true, MonoTime(21s), 5s));
  EXPECT_FALSE(history.lost());
}

TEST(LostHistory, IsNotOpenedAgainByANodeThatSaysTheSameForEver) {
  LostHistory history;
  history.term_began(at(5, 40));
  EXPECT_EQ(history.heard("node-1", at(4, 47), MonoTime(1s)), Word::goes_on);
  EXPECT_TRUE(history.settles(true, MonoTime(1s), 0s));
  EXPECT_EQ(history.heard("node-1", at(4, 47), MonoTime(1s)), Word::goes_on);
  EXPECT_EQ(history.heard("node-1", at(4, 1'000'000), MonoTime(1s)), Word::goes_on)
      << "or more, which is made up";
  EXPECT_FALSE(history.lost());
  EXPECT_EQ(history.heard("node-2", at(4, 45), MonoTime(1s)), Word::goes_on);
  EXPECT_TRUE(history.lost()) << "one that was silent until now may know of ranks";
  history.term_began(at(6, 40));
  EXPECT_TRUE(history.settles(true, MonoTime(2s), 0s));
  EXPECT_EQ(history.heard("node-1", at(5, 41), MonoTime(1s)), Word::goes_on);
  EXPECT_TRUE(history.lost()) << "each term has losses of its own";
}

TEST(LostHistory, IsFoundByARankThatTheStateHasNeverPlaced) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("lives"), {"node-1"});
  c.submit(job("waits"));
  const auto is_lost = [&](RankKey key) {
    return has_rank_of_lost_history(c.state(), {.ranks = {{.key = key}}});
  };
  EXPECT_FALSE(is_lost({JobId{1}, 1, 0}));
  EXPECT_TRUE(is_lost({JobId{1}, 2, 0})) << "an attempt that is to come";
  EXPECT_TRUE(is_lost({JobId{2}, 1, 0}));
  EXPECT_TRUE(is_lost({JobId{3}, 1, 0})) << "a job that was never submitted";
  const RankStatus made_up{.key = {JobId{3}, 1, 0}, .was_ordered = false};
  EXPECT_FALSE(has_rank_of_lost_history(c.state(), {.ranks = {made_up}}));
  c.emit(AttemptsSkipped{JobId{2}, 1});
  EXPECT_FALSE(is_lost({JobId{2}, 1, 0})) << "its number will not be given";
}

TEST(WentBack, ALeaderThatHearsOfAHigherEpochTakesOneAboveIt) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  EXPECT_EQ(a->controller.state().epoch(), Epoch{1});
  a->controller.agent_report(ConnectionId{1}, {.node = "node-1", .sequence = 2, .seen = at(7, 3)});
  EXPECT_FALSE(a->controller.is_leading());
  EXPECT_EQ(a->controller.standing().reason,
            "its epoch is not the highest: node-1 has seen epoch 7, this is 1");
  w.run(3s);
  ASSERT_TRUE(a->controller.is_leading());
  EXPECT_EQ(a->controller.state().epoch(), Epoch{8});
}

TEST(WentBack, AnEpochThatNobodyCanHaveSeenIsNotBelieved) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  a->controller.agent_report(
      ConnectionId{1}, {.node = "node-1", .sequence = 2, .seen = at((int64_t{1} << 62) - 1, 3)});
  EXPECT_TRUE(a->controller.is_leading());
  ASSERT_EQ(a->agents.closed.size(), 1u);
  EXPECT_EQ(a->agents.closed[0].second,
            "node-1 says that it has seen epoch 4611686018427387903, and this is 1: that is not "
            "believed; is it this cluster's agent?");
  w.run(3s);
  EXPECT_EQ(a->controller.state().epoch(), Epoch{1});
  EXPECT_NE(a->controller.state().open_incident(kNotBelieved), nullptr);
  a->controller.agent_report(
      ConnectionId{1},
      {.node = "node-1", .sequence = 3, .seen = at(LostHistory::kEpochsLostMax, 3)});
  EXPECT_FALSE(a->controller.is_leading()) << "a store that has gone back may have lost these";
}

TEST(WentBack, ANodeThatMakesUpEpochsAgainAndAgainIsCutOff) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  a->controller.agent_report(ConnectionId{1}, {.node = "node-1", .sequence = 2, .seen = at(7, 3)});
  w.run(3s);
  ASSERT_TRUE(a->controller.is_leading());
  w.connect(*a, 2, "node-1");
  a->agents.closed.clear();
  a->controller.agent_report(ConnectionId{2}, {.node = "node-1", .sequence = 3, .seen = at(99, 3)});
  EXPECT_TRUE(a->controller.is_leading());
  ASSERT_EQ(a->agents.closed.size(), 1u);
  EXPECT_EQ(a->agents.closed[0].second,
            "node-1 says that it has seen line 3 of epoch 99, and this is 8: its word ended a term "
            "minutes ago, and no other node says so");
  w.run(3s);
  EXPECT_EQ(a->controller.state().epoch(), Epoch{8});
  EXPECT_NE(a->controller.state().open_incident(kNotBelieved), nullptr);
}

TEST(WentBack, AttemptsThatNoJobReachesAreNotSkipped) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("waits"));
  Session session;
  session.ranks[{id, std::numeric_limits<int>::max(), 0}] = {};
  session.ranks[{id, 7, 0}] = {};
  c.decide_with([&](Decision& decision) { skip_attempts_of_strays(decision, session); });
  EXPECT_EQ(c.job(id).next_attempt(), 8);
}

// node-1 still runs attempt 3 of the job, which the store has forgotten.
struct Forgotten {
  ControllerWorld w;
  std::unique_ptr<Server> a;
  JobId job_id{1};
  RankKey stray{JobId{1}, 3, 0};

  Forgotten() {
    a = w.leader();
    w.connect(*a, 1, "node-1");
    w.connect(*a, 2, "node-2");
    const auto answer = submit(*a, job("j").nodes(2).begin_at(a->loop.wall_now() + 5s));
    w.run(1s);
    EXPECT_TRUE(answer->is_ok());
    const int64_t last = a->controller.state().last_seq();
    AgentReport report{.node = "node-1", .sequence = 2, .seen = at(0, last + 20)};
    report.ranks = {{.key = stray, .phase = RankPhase::running}};
    a->controller.agent_report(ConnectionId{1}, report);
    w.run(2s);
  }
  int64_t sequence = 2;
  const Job& job_now() const { return *a->controller.state().find(job_id); }
  const Sessions& sessions() const { return *a->controller.soft_facts().sessions; }
};

TEST(WentBack, IsAnIncidentAndEndsTheStrays) {
  Forgotten t;
  const auto& incidents = t.a->controller.state().incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents.begin()->second.kind, kStoreWentBack);
  EXPECT_EQ(t.a->agents.of<KillRank>(ConnectionId{1}).front().key, t.stray);
}

// A leader that found it, ordered something, and died before its next tick: the numbers that it
// had skipped and the positions that its orders bore hid the loss from the next one, which placed
// the job again (sim seed 20452320 --store-goes-back).
TEST(WentBack, TheNextLeaderKnowsOfItWhereTheFirstHasOrderedSomething) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  submit(*a, job("j").begin_at(a->loop.wall_now() + 1h));
  w.run(1s);
  bool has_ordered = false;
  a->agents.on_send = [&](const AgentOrder&) { has_ordered = true; };
  AgentReport report{.node = "node-1", .sequence = 2};
  report.ranks = {{.key = {JobId{1}, 3, 0}, .phase = RankPhase::running, .was_ordered = true}};
  a->controller.agent_report(ConnectionId{1}, report);
  for (int i = 0; i < 100 && !has_ordered; ++i) w.run(1us);
  ASSERT_TRUE(has_ordered) << "before the next tick";
  ASSERT_EQ(a->controller.state().find(JobId{1})->next_attempt(), 4);
  a.reset();
  const auto b = w.server("b");
  b->controller.start();
  w.run(5s);
  ASSERT_TRUE(b->controller.is_leading());
  EXPECT_NE(b->controller.state().open_incident(kStoreWentBack), nullptr);
}

TEST(WentBack, WaitingForTheStraysKeepsNobodyBusy) {
  Forgotten t;
  const int64_t turns = t.a->controller.stats().turns;
  t.w.run(5s);
  EXPECT_LT(t.a->controller.stats().turns - turns, 20);
}

// Both nodes report each heartbeat, from these sequences on.
void keep_reporting(Forgotten& t, Duration time, std::vector<RankStatus> ranks_of_node_1 = {}) {
  for (const MonoTime end = t.w.timeline.now() + time; t.w.timeline.now() < end;) {
    t.w.report(*t.a, 1, ++t.sequence, ranks_of_node_1);
    t.w.report(*t.a, 2, t.sequence);
    t.w.run(t.w.knobs.heartbeat);
  }
}

TEST(WentBack, NothingStartsBeforeTheStraysAreGone) {
  Forgotten t;
  const Duration settling = time_to_settle(t.w.knobs);
  keep_reporting(t, settling + 20s, {{.key = t.stray, .phase = RankPhase::running}});
  EXPECT_FALSE(t.job_now().has_live_attempt());
  keep_reporting(t, settling - 10s);
  EXPECT_FALSE(t.job_now().has_live_attempt())
      << "a node that only the lost events knew, and that is cut off, may still run its ranks";
  EXPECT_FALSE(t.a->controller.state().incidents().empty());
  keep_reporting(t, 20s);
  ASSERT_TRUE(t.job_now().has_live_attempt());
  EXPECT_EQ(t.job_now().attempt->number, 4) << "3 was given by a leader whose events are lost";
  EXPECT_TRUE(t.a->controller.state().incidents().empty());
}

TEST(WentBack, ANodeThatGoesByAForgottenListOfPeersIsNotKnown) {
  Forgotten t;
  AgentReport report{.node = "node-1", .sequence = 3, .peers_version = 7};
  t.a->controller.agent_report(ConnectionId{1}, report);
  t.w.run(50ms);
  EXPECT_FALSE(are_all_nodes_known(t.a->controller.state(), t.sessions()));
}

// A launch that is still wanted by what the state says may be of an attempt that the lost events
// have ended, and whose successor runs elsewhere.
TEST(WentBack, NoLaunchLeavesWhileItLasts) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.connect(*a, 2, "node-2");
  submit(*a, job("j"));
  w.run(50ms);
  ASSERT_EQ(a->agents.of<LaunchRank>(ConnectionId{1}).size(), 1u);
  for (int64_t sequence = 2; sequence < 12; ++sequence) {
    a->controller.agent_report(ConnectionId{2},
                               {.node = "node-2", .sequence = sequence, .seen = at(0, 1'000)});
    w.report(*a, 1, sequence);
    w.run(1s);
  }
  EXPECT_EQ(a->agents.of<LaunchRank>(ConnectionId{1}).size(), 1u) << "not sent again";
}

}  // namespace
}  // namespace hai::test
