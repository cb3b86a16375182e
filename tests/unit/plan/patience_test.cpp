// A victim of lower level that will save soon by itself is asked right after, not before.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Saves every ten minutes; the last time `ago`.
struct Saver {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  explicit Saver(Duration ago) {
    c.advance(10min).checkpoint(low, 0s);
    c.advance(10min).checkpoint(low, 0s);
    c.advance(ago);
  }
  JobId submit_high() { return c.submit(job("high").priority(Priority::high)); }
};

TEST(CheckpointPatience, WaitsForOneThatIsDue) {
  Saver s(9min + 30s);
  const JobId high = s.submit_high();
  const Plan plan = s.c.plan();
  EXPECT_THAT(plan.reserves, IsEmpty());
  EXPECT_THAT(pending_text(plan, high), ::testing::HasSubstr("right after a checkpoint"));
  s.c.advance(30s).checkpoint(s.low, 0s);
  EXPECT_THAT(reserves(s.c, s.c.plan()), ElementsAre("high: node-1 <- low"));
}

TEST(CheckpointPatience, EndsWhenTheTimeHasPassed) {
  Saver s(9min + 30s);
  s.submit_high();
  s.c.advance(30s);
  EXPECT_THAT(reserves(s.c, s.c.plan()), ElementsAre("high: node-1 <- low")) << "it is late";
}

TEST(CheckpointPatience, IsShort) {
  Saver s(9min - 1s);
  s.submit_high();
  EXPECT_THAT(reserves(s.c, s.c.plan()), ElementsAre("high: node-1 <- low"));
}

TEST(CheckpointPatience, MayBeNone) {
  Saver s(9min + 30s);
  s.c.knobs.checkpoint_patience = 0s;
  s.submit_high();
  EXPECT_THAT(reserves(s.c, s.c.plan()), ElementsAre("high: node-1 <- low"));
}

TEST(CheckpointPatience, IsNotForWhoeverWouldLoseLittle) {
  Saver s(10s);
  s.c.knobs.checkpoint_patience = 1h;
  s.submit_high();
  EXPECT_THAT(reserves(s.c, s.c.plan()), ElementsAre("high: node-1 <- low"));
}

// It is always due again, and was waited for until reserve_after.
TEST(CheckpointPatience, IsNotForWhoeverSavesAllTheTime) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  c.advance(10s).checkpoint(low, 0s);
  c.advance(1s).checkpoint(low, 0s);
  c.submit(job("high").priority(Priority::high));
  c.advance(500ms);
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("high: node-1 <- low"));
}

}  // namespace
}  // namespace hai::test
