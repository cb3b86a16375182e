// A store that has lost what was durable: it is noticed, said, and nothing runs twice for it.

#include "server/control/lost_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

LogPosition at(int64_t epoch, int64_t seq) { return {Epoch{epoch}, seq}; }

TEST(LostHistory, IsNoneWhenEachTermBeginsWhereTheLastEnded) {
  LostHistory history;
  history.term_began(at(1, 0));
  history.appended(at(1, 50));
  EXPECT_TRUE(history.heard(at(1, 50)));
  EXPECT_TRUE(history.heard(at(0, 0))) << "a node that has seen nothing yet";
  history.term_began(at(3, 60));
  EXPECT_TRUE(history.heard(at(2, 60)));
  EXPECT_TRUE(history.heard(at(1, 50)));
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
  history.settle();
  history.term_began(at(3, 40));
  EXPECT_FALSE(history.lost()) << "said once";
}

TEST(LostHistory, IsNoticedByWhatNodesHaveSeen) {
  LostHistory history;
  history.term_began(at(5, 40));
  EXPECT_TRUE(history.heard(at(4, 47)));
  EXPECT_TRUE(history.heard(at(4, 45)));
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
  EXPECT_FALSE(history.heard(at(5, 44))) << "this leader has written nothing yet";
  EXPECT_TRUE(history.lost());
  EXPECT_FALSE(history.heard(at(7, 1)));
  EXPECT_EQ(history.floor(), Epoch{7});
  history.leads_elsewhere(at(9, 44));
  EXPECT_EQ(history.floor(), Epoch{9});
}

TEST(LostHistory, IsNoticedByAStandbyThatWatched) {
  LostHistory history;
  history.leads_elsewhere(at(1, 80));
  history.term_began(at(2, 75));
  ASSERT_TRUE(history.lost());
  EXPECT_EQ(history.lost()->first, 76);
}

TEST(WentBack, ALeaderThatHearsOfAHigherEpochTakesOneAboveIt) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  EXPECT_EQ(a->controller.state().epoch(), Epoch{1});
  a->controller.agent_report(ConnectionId{1}, {.node = "node-1", .sequence = 2, .seen = at(7, 3)});
  EXPECT_FALSE(a->controller.is_leading());
  w.run(3s);
  ASSERT_TRUE(a->controller.is_leading());
  EXPECT_EQ(a->controller.state().epoch(), Epoch{8});
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
  const Job& job_now() const { return *a->controller.state().find(job_id); }
};

TEST(WentBack, IsAnIncidentAndEndsTheStrays) {
  Forgotten t;
  const auto& incidents = t.a->controller.state().incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents.begin()->second.kind, kStoreWentBack);
  EXPECT_EQ(t.a->agents.of<KillRank>(ConnectionId{1}).front().key, t.stray);
}

TEST(WentBack, WaitingForTheStraysKeepsNobodyBusy) {
  Forgotten t;
  const int64_t turns = t.a->controller.stats().turns;
  t.w.run(5s);
  EXPECT_LT(t.a->controller.stats().turns - turns, 20);
}

TEST(WentBack, NothingStartsBeforeTheStraysAreGone) {
  Forgotten t;
  t.w.run(6s);
  EXPECT_FALSE(t.job_now().has_live_attempt());
  t.w.report(*t.a, 1, 3);
  t.w.run(2s);
  ASSERT_TRUE(t.job_now().has_live_attempt());
  EXPECT_EQ(t.job_now().attempt->number, 4) << "3 was given by a leader whose events are lost";
  EXPECT_TRUE(t.a->controller.state().incidents().empty());
}

}  // namespace
}  // namespace hai::test
