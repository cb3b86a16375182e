// A job that does not fit never idles what others could use.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Backfill, LaterJobsStartInHoles) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(job("runs").nodes(2), {"node-1", "node-2"});
  JobId big = c.submit(job("big").nodes(3));
  c.submit(job("small"));
  Plan plan = c.plan();
  EXPECT_THAT(starts(c, plan), ElementsAre("small: node-3"));
  EXPECT_EQ(pending_text(plan, big),
            "needs 3 whole nodes in training; 1 of 4 open nodes can give that now");
}

TEST(Backfill, DoesNotUseNodesHeldForAnother) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  JobId high = c.submit(job("high").priority(Priority::high).nodes(2));
  c.pass();
  ASSERT_TRUE(c.job(high).reservation.has_value());
  JobId small = c.submit(job("small"));
  Plan plan = c.plan();
  EXPECT_THAT(plan.starts, IsEmpty()) << "node-2 is free but held";
  EXPECT_EQ(pending_code(plan, small), "resources");
  c.leave(low);
  EXPECT_THAT(jobs(c, c.pass().starts), ElementsAre("high"));
}

TEST(Backfill, AnotherGroupIsAnotherQueue) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  c.run(job("runs"), {"node-1"});
  c.submit(job("waits"));
  c.submit(job("dev").group("dev"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("dev: node-2"));
}

TEST(Backfill, SmallerGangOfAHopelessShapeStillStarts) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.submit(job("three").nodes(3));
  c.submit(job("also-three").nodes(3));
  c.submit(job("two").nodes(2));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("two: node-2,node-3"));
}

}  // namespace
}  // namespace hai::test
