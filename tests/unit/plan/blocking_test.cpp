// What holds a job up, in words.

#include "server/plan/blocking.h"

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> facts(const Cluster& c, JobId id) {
  std::vector<std::string> out;
  for (const BlockingFact& fact : blocking_set(c.state(), c.knobs, c.now, id)) {
    out.push_back(fmt::format("{}: {}", to_string(fact.kind), fact.text));
  }
  return out;
}

TEST(Blocking, NothingWhereThereIsRoom) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_THAT(facts(c, c.submit(job("j"))), IsEmpty());
}

TEST(Blocking, AnArrayIsAskedByItsTasksUnlessItIsKeptItself) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId array = c.submit(job("sweep").array("3-9"));
  EXPECT_THAT(facts(c, array),
              ElementsAre("array: an array starts by its tasks: `hai why 1_3` says of one what it "
                          "waits for"));
  c.emit(JobHeld{array, "held by ann"});
  EXPECT_THAT(facts(c, array), ElementsAre("held: held by ann"));
}

TEST(Blocking, ATaskIsCalledByItsArrayAndNumber) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto sweep = c.decide(SubmitJob{job("sweep").array("3-9").spec(), ""});
  ASSERT_TRUE(sweep.is_ok());
  const auto next = c.decide(SubmitJob{job("next").depends_on("1_4").spec(), ""});
  ASSERT_TRUE(next.is_ok()) << next.status().message();
  EXPECT_THAT(facts(c, next.value().job),
              ElementsAre("dependency: job 1_4 (sweep) of ann, which is queued, has to succeed "
                          "first (afterok)"));
}

TEST(Blocking, AFailureIsWaitedOut) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j").restart(3), {"node-1"});
  c.emit(AttemptEnding{id, 1, {AttemptState::failed, 1, "exit code 1", false}});
  c.leave(id, AttemptState::failed);
  c.emit(JobRequeued{id, false, false, "exit code 1"});
  EXPECT_THAT(facts(c, id), ElementsAre(StartsWith("backoff: it failed 1 time; it is started")));
}

TEST(Blocking, NothingWhereOthersMayBeInterrupted) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  EXPECT_THAT(facts(c, c.submit(job("j").priority(Priority::high))), IsEmpty());
}

TEST(Blocking, AJobOfHigherPriority) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("big").user("bob").priority(Priority::high), {"node-1"});
  EXPECT_THAT(facts(c, c.submit(job("j"))),
              ElementsAre("job: job 1 (big) of bob runs on node-1 at priority high, above normal"));
}

TEST(Blocking, TheFewestOfSeveral) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(job("a").priority(Priority::high), {"node-1"});
  c.run(job("b").priority(Priority::high), {"node-2"});
  c.run(job("gang").nodes(2).priority(Priority::high), {"node-3", "node-4"});
  EXPECT_THAT(facts(c, c.submit(job("j").nodes(2))),
              ElementsAre("job: job 3 (gang) of ann runs on node-[3-4] at priority high, above "
                          "normal"));
}

// An older server let the restart of an agent move its node into another group under a job.
TEST(Blocking, NobodyOnNodesOfAnotherGroup) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a").priority(Priority::high), {"node-1"});
  c.run(job("b").priority(Priority::high), {"node-2"});
  NodeFacts moved = c.node("node-2").facts;
  moved.group = "debug";
  c.emit(NodeRegistered{c.node_id("node-2"), moved});
  EXPECT_THAT(facts(c, c.submit(job("j"))),
              ElementsAre("job: job 1 (a) of ann runs on node-1 at priority high, above normal"));
}

TEST(Blocking, AQuantumAndWhenItIsOver) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("other").user("bob"), {"node-1"});
  const JobId id = c.submit(job("j"));
  EXPECT_THAT(facts(c, id),
              ElementsAre("job: job 1 (other) of bob runs on node-1 at priority normal; it may run "
                          "until 2001-09-09T02:16:40Z before others of it take turns"));
}

TEST(Blocking, EverythingAtOnce) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.set_quota("ann", "training", Priority::normal, 0);
  c.set_scheduling("node-1", Scheduling::cordoned);
  const JobId id = c.submit(job("j"));
  ASSERT_TRUE(c.decide(HoldJob{"j", "later"}).is_ok());
  EXPECT_THAT(facts(c, id),
              ElementsAre("held: held by ann: later",
                          "quota: quota of ann in training/normal: 0 nodes, 0 used, 1 asked",
                          "node: node-1 is cordoned: test (by ann)"));
}

// Without the one job there would be both room and quota.
TEST(Blocking, AJobOfOnesOwnStandsForItsQuotaToo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.set_quota("ann", "training", Priority::normal, 1);
  c.run(job("mine"), {"node-1"});
  EXPECT_THAT(facts(c, c.submit(job("j"))),
              ElementsAre("job: job 1 (mine) of ann runs on node-1 at priority normal; one's own "
                          "jobs of a priority do not interrupt each other"));
}

TEST(Blocking, WhoHoldsTheNodes) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("v").user("bob").priority(Priority::low), {"node-1"});
  const JobId holder = c.submit(job("h").priority(Priority::high));
  c.pass();
  EXPECT_THAT(facts(c, holder), ElementsAre("job: job 1 (v) of bob saves and leaves node-1, by "
                                            "2001-09-09T01:47:40Z at the latest"));
  EXPECT_THAT(facts(c, c.submit(job("j"))),
              ElementsAre("reservation: node-1 is held for job 2 (h) of ann, priority high"));
}

TEST(Blocking, TheOneJobThatMayCrossZones) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"));
  c.run(job("wide").nodes(3).priority(Priority::high), {"node-1", "node-2", "node-3"});
  EXPECT_THAT(facts(c, c.submit(job("j").nodes(3))),
              ElementsAre("cross_zone: no zone is large enough, and job 1 (wide) of ann runs "
                          "across zones already, as many as may at a time (1)"));
}

// With the wide job gone it has quota again, but at a level that is not above the other's.
TEST(Blocking, TheLevelIsTheOneThatComesFree) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"));
  for (Priority level : kPriorities) c.set_quota("ann", "training", level, 0);
  c.set_quota("ann", "training", Priority::low, 4);
  c.run(job("wide").nodes(3).priority(Priority::low), {"node-1", "node-2", "node-3"});
  c.run(job("other").user("bob").priority(Priority::low), {"node-4"});
  EXPECT_THAT(facts(c, c.submit(job("j").nodes(4).priority(Priority::automatic))),
              UnorderedElementsAre(HasSubstr("job 2 (other)"), HasSubstr("job 1 (wide)")));
}

// What the dear one would cost is not taken from what the other may.
TEST(Blocking, OneThatIsTooDearHidesNobodyWhoIsNot) {
  Cluster c = cluster(nodes(3, gpus(8)));
  const JobId dear = c.run(job("dear").user("bob"), {"node-1"});
  const JobId cheap = c.run(job("cheap").user("bob").gpus(1), {"node-2"}, GpuSet::first(1));
  c.run(job("top").user("bob").priority(Priority::high), {"node-3"});
  const JobId id = c.submit(job("j").nodes(3));
  c.advance(3h);
  c.checkpoint(dear, 40min);
  c.checkpoint(cheap, 1h);
  EXPECT_THAT(facts(c, id), ElementsAre(HasSubstr("job 1 (dear)"), HasSubstr("job 3 (top)")));
}

TEST(Blocking, AnInteractiveJobMakesRoomForNobody) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("box").priority(Priority::low).interactive(), {"node-1"});
  EXPECT_THAT(facts(c, c.submit(job("j").priority(Priority::high))),
              ElementsAre(::testing::HasSubstr("and is interactive: it makes room for nobody")));
}

TEST(Blocking, HardwareThatHoldsNoTightFit) {
  Cluster c = cluster(nodes(2, gpus(8)).leaf("leaf-1"), nodes(2, gpus(8)).leaf("leaf-2"),
                      nodes(2, gpus(8)).leaf("leaf-3"));
  EXPECT_THAT(facts(c, c.submit(job("one").nodes(3).max_leaves(1))),
              ElementsAre("hardware: training has no 3 nodes within 1 leaf; after 1m of waiting "
                          "any will do"));
  EXPECT_THAT(facts(c, c.submit(job("two").nodes(5).max_leaves(2))),
              ElementsAre("hardware: training has no 5 nodes within 2 leaves; after 1m of waiting "
                          "any will do"));
}

TEST(Blocking, ManyOfAKindAreMerged) {
  Cluster c = cluster(nodes(6, gpus(8)));
  for (int i = 1; i <= 6; ++i) c.set_scheduling(fmt::format("node-{}", i), Scheduling::cordoned);
  const auto all = blocking_set(c.state(), c.knobs, c.now, c.submit(job("j").nodes(6)));
  EXPECT_EQ(all.size(), 6u);
  const auto merged = merge_facts(all);
  ASSERT_EQ(merged.size(), 4u);
  EXPECT_EQ(merged.back().text, "and 3 more nodes");
  EXPECT_THAT(merged.back().holders, ElementsAre("node/node-4", "node/node-5", "node/node-6"));
}

}  // namespace
}  // namespace hai::test
