// Who is first: level, then submit order.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Order, HighestLevelFirstThenSubmitOrder) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.submit(job("low").priority(Priority::low));
  c.submit(job("first").priority(Priority::high));
  c.submit(job("second").priority(Priority::high));
  c.submit(job("top").priority(Priority::extreme_high));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("top: node-1", "first: node-2", "second: node-3"));
}

TEST(Order, AutoStandsAtTheLevelWhoseQuotaItUses) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("low").priority(Priority::low));
  c.submit(job("auto").priority(Priority::automatic));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("auto: node-1"));
}

TEST(Order, ASuspendedJobKeepsItsPlace) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId old = c.run(job("old"), {"node-1"});
  c.submit(job("new"));
  c.leave(old);
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("old: node-1"));
}

TEST(Order, SameLevelNeverInterrupts) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.submit(job("waits"));
  Plan plan = c.plan();
  EXPECT_THAT(plan.reserves, IsEmpty());
  EXPECT_EQ(pending_code(plan, JobId{2}), "resources");
}

TEST(Order, APassOfTheSameStateIsTheSame) {
  Cluster c = cluster(nodes(3, gpus(8)), nodes(3, gpus(8)).zone("B").leaf("leaf-2"));
  c.run(job("low").priority(Priority::low).nodes(2), {"node-1", "node-2"});
  for (int i = 0; i < 6; ++i) c.submit(job(fmt::format("j{}", i)).nodes(i % 3 + 1));
  EXPECT_EQ(starts(c, c.plan()), starts(c, c.plan()));
  EXPECT_EQ(reserves(c, c.plan()), reserves(c, c.plan()));
}

}  // namespace
}  // namespace hai::test
