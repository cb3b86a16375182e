// Whole nodes out of pieces: small jobs that save move beside others, if that pays.

#include "server/plan/virtual_cluster.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two half-used nodes; a job of one whole node waits, of the same user: it may interrupt nobody.
struct Halves {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId a = c.run(job("a").gpus(4), {"node-1"}, GpuSet::first(4));
  JobId b = c.run(job("b").gpus(4), {"node-2"}, GpuSet::first(4));
  JobId whole = c.submit(job("whole"));
  Halves() {
    c.advance(c.knobs.tight_wait);
    c.checkpoint(a, 10s);
    c.checkpoint(b, 20s);
  }
};

TEST(Defragment, MovesTheCheapestToMakeANodeWhole) {
  Halves h;
  const Plan plan = h.c.plan();
  EXPECT_THAT(reserves(h.c, plan), ElementsAre("whole: node-1 <- a"));
  EXPECT_TRUE(plan.reserves[0].is_move);
}

TEST(Defragment, WhoeverMovesRunsAgainBesideTheOther) {
  Halves h;
  h.c.pass();
  h.c.leave(h.a);
  EXPECT_THAT(starts(h.c, h.c.plan()),
              ::testing::UnorderedElementsAre("whole: node-1", "a: node-2[4,5,6,7]"));
}

TEST(Defragment, NotWhereNobodyCouldGo) {
  Halves h;
  h.c.run(job("filler").gpus(4), {"node-2"}, GpuSet{0xf0});
  EXPECT_THAT(h.c.plan().reserves, IsEmpty());
}

TEST(Defragment, NeverMovesWhoeverReportsNoCheckpoints) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a").gpus(4), {"node-1"}, GpuSet::first(4));
  c.run(job("b").gpus(4), {"node-2"}, GpuSet::first(4));
  c.submit(job("whole"));
  c.advance(c.knobs.tight_wait);
  EXPECT_THAT(c.plan().reserves, IsEmpty());
}

// An older server let the restart of an agent move its node into another group under a job.
TEST(Defragment, NeverMovesWhoseGroupIsGone) {
  Halves h;
  for (const char* name : {"node-1", "node-2"}) {
    NodeFacts moved = h.c.node(name).facts;
    moved.group = "debug";
    h.c.emit(NodeRegistered{h.c.node_id(name), moved});
  }
  h.c.submit(job("of-debug").group("debug"));
  h.c.advance(h.c.knobs.tight_wait);
  h.c.checkpoint(h.a, 10s);
  h.c.checkpoint(h.b, 10s);
  EXPECT_THAT(h.c.plan().reserves, IsEmpty());
}

TEST(Defragment, NeverMovesAGang) {
  Cluster c = cluster(nodes(3, gpus(8)));
  const JobId gang = c.run(job("gang").nodes(2).gpus(4), {"node-1", "node-2"}, GpuSet::first(4));
  c.run(job("b").gpus(4), {"node-3"}, GpuSet::first(4));
  c.submit(job("whole"));
  c.advance(c.knobs.tight_wait);
  c.checkpoint(gang, 10s);
  EXPECT_THAT(c.plan().reserves, IsEmpty());
}

TEST(Defragment, OnlyIfItPays) {
  Halves h;
  h.c.knobs.min_quantum = 30s;  // less than to save and restart
  EXPECT_THAT(h.c.plan().reserves, IsEmpty());
}

TEST(Defragment, NotAtOnce) {
  Halves h;
  h.c.knobs.tight_wait = 5min;
  EXPECT_THAT(h.c.plan().reserves, IsEmpty());
}

TEST(Defragment, CanBeSwitchedOffAndIsBounded) {
  Halves off;
  off.c.knobs.defrag_moves_per_hour = 0;
  EXPECT_THAT(off.c.plan().reserves, IsEmpty());
  Halves used_up;
  used_up.c.knobs.defrag_moves_per_hour = 1;
  used_up.c.pass();
  used_up.c.emit(ReservationDropped{used_up.whole, "test"});
  used_up.c.emit(AttemptContinued{used_up.a, 1, "test"});
  EXPECT_THAT(used_up.c.plan().reserves, IsEmpty()) << "one move in this hour was all";
  used_up.c.advance(1h + 1s);
  used_up.c.checkpoint(used_up.a, 10s);
  EXPECT_THAT(reserves(used_up.c, used_up.c.plan()), ElementsAre("whole: node-1 <- a"));
}

TEST(Defragment, AForecastCountsItsMovesToo) {
  Halves h;
  VirtualCluster forecast(h.c.state(), h.c.knobs, h.c.now);
  EXPECT_THAT(forecast.pass().asked_to_leave, ElementsAre(h.a));
  EXPECT_EQ(forecast.state().moves_since(h.c.now - 1h), 1);
}

// A leader that loads its state from the rows does not know of them, and a replay of the log must
// plan as it did.
TEST(Defragment, ANewTermCountsItsMovesFromNone) {
  Halves h;
  h.c.knobs.defrag_moves_per_hour = 1;
  h.c.pass();
  h.c.emit(ReservationDropped{h.whole, "test"});
  h.c.emit(AttemptContinued{h.a, 1, "test"});
  ASSERT_THAT(h.c.plan().reserves, IsEmpty());
  h.c.emit(EpochStarted{Epoch{2}});
  h.c.set_liveness("node-1", Liveness::up).set_liveness("node-2", Liveness::up);
  EXPECT_THAT(reserves(h.c, h.c.plan()), ElementsAre("whole: node-1 <- a"));
}

}  // namespace
}  // namespace hai::test
