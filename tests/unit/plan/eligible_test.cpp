// Who may run at all, and at which level.

#include "server/plan/eligible.h"

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Eligible, StartsWhenNothingStandsAgainstIt) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("j"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("j: node-1"));
}

TEST(Eligible, NotWhileHeld) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  c.emit(JobHeld{id, "held by ann: data moves"});
  EXPECT_EQ(c.plan().pending.at(id), (PendingReason{PendingCode::held, "held by ann: data moves"}));
}

TEST(Eligible, NotForAnInactiveUser) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j").user("bob"));
  c.emit(UserSet{{.name = "bob", .active = false}});
  EXPECT_EQ(pending_code(c.plan(), id), "user_inactive");
}

TEST(Eligible, NotBeforeItsTime) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j").begin_at(c.now + 1h));
  EXPECT_EQ(pending_code(c.plan(), id), "begin_time");
  c.advance(1h);
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("j: node-1"));
}

TEST(Eligible, NotBeforeItsDependencies) {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId first = c.submit(job("first"));
  JobId second = c.submit(job("second"));
  JobId last = c.submit(job("last").depends_on("first").depends_on("second"));
  EXPECT_EQ(pending_code(c.plan(), last), "dependency");
  EXPECT_THAT(pending_text(c.plan(), last), HasSubstr("job 1 to succeed (afterok) and 1 more"));
  c.finish(first);
  EXPECT_EQ(pending_code(c.plan(), last), "dependency");
  c.finish(second);
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("last: node-1"));
}

TEST(Eligible, NeverAfterAFailedDependency) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId first = c.submit(job("first"));
  JobId last = c.submit(job("last").depends_on("first"));
  c.finish(first, JobState::failed);
  EXPECT_EQ(pending_code(c.plan(), last), "dependency_failed");
}

TEST(QuotaRule, StopsAtTheLimitWithTheNumbers) {
  Cluster c = cluster(nodes(8, gpus(8)));
  c.clear_quotas().set_quota("ann", "training", Priority::normal, 4);
  c.run(job("runs").nodes(2), {"node-1", "node-2"});
  JobId big = c.submit(job("big").nodes(3));
  JobId fits = c.submit(job("fits").nodes(2));
  JobId late = c.submit(job("late"));
  Plan plan = c.plan();
  EXPECT_THAT(starts(c, plan), ElementsAre("fits: node-3,node-4"));
  EXPECT_EQ(pending_text(plan, big), "quota of ann in training/normal: 4 nodes, 4 used, 3 asked");
  EXPECT_EQ(pending_text(plan, late), "quota of ann in training/normal: 4 nodes, 4 used, 1 asked");
  EXPECT_EQ(pending_code(plan, fits), "");
}

TEST(QuotaRule, CountsSharesInProportion) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.clear_quotas().set_quota("ann", "training", Priority::normal, 1);
  for (int i = 0; i < 3; ++i) c.submit(job(fmt::format("half-{}", i)).gpus(4));
  Plan plan = c.plan();
  EXPECT_EQ(plan.starts.size(), 2u);
  EXPECT_EQ(pending_text(plan, JobId{3}),
            "quota of ann in training/normal: 1 node, 1 used, 0.5 asked");
}

TEST(QuotaRule, IsPerUser) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.clear_quotas().set_quota("public", "*", Priority::normal, 1);
  c.submit(job("a").user("ann"));
  c.submit(job("b").user("bob"));
  c.submit(job("a2").user("ann"));
  EXPECT_THAT(jobs(c, c.plan().starts), ElementsAre("a", "b"));
}

TEST(QuotaRule, CountsNodesHeldForAJob) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.clear_quotas();
  c.set_quota("ann", "training", Priority::high, 1).set_quota("public", "*", Priority::low, 3);
  JobId low = c.run(job("low").user("bob").priority(Priority::low), {"node-1"});
  c.run(job("low2").user("bob").priority(Priority::low), {"node-2"});
  c.run(job("low3").user("bob").priority(Priority::low), {"node-3"});
  JobId first = c.submit(job("first").priority(Priority::high));
  c.emit(NodesReserved{first, {c.on({"node-1"}), Priority::high, {low}, c.now}});
  JobId second = c.submit(job("second").priority(Priority::high));
  Plan plan = c.plan();
  EXPECT_EQ(pending_code(plan, first), "preempting");
  EXPECT_EQ(pending_code(plan, second), "quota");
}

TEST(AutoLevel, TakesTheHighestWithQuotaFreeUpToNormal) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.clear_quotas();
  c.set_quota("ann", "*", Priority::extreme_high, 9);
  c.set_quota("ann", "*", Priority::normal, 1).set_quota("ann", "*", Priority::low, 1);
  for (const char* name : {"a", "b", "c"}) c.submit(job(name).priority(Priority::automatic));
  Plan plan = c.plan();
  ASSERT_EQ(plan.starts.size(), 2u);
  EXPECT_EQ(plan.starts[0].priority, Priority::normal);
  EXPECT_EQ(plan.starts[1].priority, Priority::low);
  EXPECT_EQ(pending_text(plan, JobId{3}),
            "quota of ann in training/normal: 1 node, 1 used, 1 asked; lower levels are used up "
            "too");
}

TEST(AutoLevel, RunsAtItsLevelNotAtThePriorityAsked) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j").priority(Priority::automatic));
  c.pass();
  EXPECT_EQ(c.attempt(id).priority, Priority::normal);
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::normal), 1000);
}

TEST(QuotaUnitsOfAJob, FollowTheGroupsLargestNode) {
  Cluster c = cluster(nodes(1, gpus(4)), nodes(1, gpus(8)), nodes(1, gpus(16)).group("dev"));
  EXPECT_EQ(quota_units(c.state(), job("j").gpus(4).nodes(2).spec()), 1000);
  EXPECT_EQ(quota_units(c.state(), job("j").nodes(2).spec()), 2000);
}

}  // namespace
}  // namespace hai::test
