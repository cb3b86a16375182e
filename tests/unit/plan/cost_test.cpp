// The price of interrupting a job.

#include "server/plan/cost.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

constexpr Duration kRestart = 30s;

int64_t per_gpu(const Cluster& c, JobId id) {
  int count = 0;
  for (const Rank& rank : c.attempt(id).ranks) count += rank.place.gpus.count();
  return suspend_cost(c.job(id), c.knobs, c.now) / count;
}

Cluster one_node() { return cluster(nodes(2, gpus(8))); }

TEST(SuspendCost, CountsWorkSinceTheLastCheckpointSaveAndRestart) {
  Cluster c = one_node();
  JobId id = c.run(job("j"), {"node-1"});
  c.advance(2h).checkpoint(id, 5min, 20);
  EXPECT_EQ(per_gpu(c, id), (5min + 20s + kRestart).count());
}

TEST(SuspendCost, CountsEveryGpu) {
  Cluster c = one_node();
  JobId gang = c.run(job("gang").nodes(2), {"node-1", "node-2"});
  c.advance(10min).checkpoint(gang, 1min);
  EXPECT_EQ(suspend_cost(c.job(gang), c.knobs, c.now), 16 * (1min + kRestart).count());
}

TEST(SuspendCost, OfASilentJobDoesNotGrowForEver) {
  Cluster c = one_node();
  JobId silent = c.run(job("silent"), {"node-1"});
  c.advance(c.knobs.assumed_checkpoint_age);
  int64_t then = per_gpu(c, silent);
  c.advance(100h);
  EXPECT_EQ(per_gpu(c, silent), then);
  EXPECT_EQ(then, (c.knobs.assumed_checkpoint_age + kRestart).count());
}

TEST(SuspendCost, OfASilentJobIsNoMoreThanItHasDone) {
  Cluster c = one_node();
  JobId silent = c.run(job("silent"), {"node-1"});
  JobId reports = c.run(job("reports"), {"node-2"});
  c.checkpoint(reports, 0s);
  c.advance(1min);
  EXPECT_EQ(per_gpu(c, silent), (1min + kRestart).count());
  EXPECT_LE(per_gpu(c, silent), per_gpu(c, reports)) << "silence must not protect";
}

TEST(SuspendCost, OfAReportingJobExceedsASilentOnesWhenItHasMoreToLose) {
  Cluster c = one_node();
  JobId silent = c.run(job("silent"), {"node-1"});
  JobId reports = c.run(job("reports"), {"node-2"});
  c.checkpoint(reports, 0s);
  c.advance(3h);
  EXPECT_GT(per_gpu(c, reports), per_gpu(c, silent)) << "reporting must not hurt";
}

TEST(SuspendCost, CountsOnlyThisAttempt) {
  Cluster c = one_node();
  JobId id = c.run(job("j"), {"node-1"});
  c.checkpoint(id, 0s);
  c.leave(id);
  c.advance(24h).place(id, c.on({"node-1"}));
  c.confirm(id);
  c.advance(1min);
  EXPECT_EQ(per_gpu(c, id), (1min + kRestart).count());
}

TEST(SuspendCost, BelievesNoAbsurdReports) {
  Cluster c = one_node();
  JobId id = c.run(job("j"), {"node-1"});
  c.advance(1h).checkpoint(id, -24h, 1e18);
  EXPECT_EQ(per_gpu(c, id), (1h + kRestart).count()) << "1 h to save at most, none to redo";
  c.checkpoint(id, 0s, -5);
  EXPECT_EQ(per_gpu(c, id), kRestart.count());
}

TEST(SuspendCost, OfWhoLeavesAnywayIsNothing) {
  Cluster c = one_node();
  JobId a = c.run(job("a"), {"node-1"});
  JobId b = c.run(job("b"), {"node-2"});
  c.advance(1h);
  c.emit(AttemptSuspending{a, 1, c.now + 60s, {}, "test"});
  c.emit(AttemptEnding{b, 1, {AttemptState::failed, 1, "test", false}});
  EXPECT_EQ(per_gpu(c, a), 0);
  EXPECT_EQ(per_gpu(c, b), 0);
}

TEST(SuspendCost, OfWhoHasNotStartedIsTheRestart) {
  Cluster c = one_node();
  JobId id = c.place(job("j"), {"node-1"});
  c.advance(1h);
  EXPECT_EQ(per_gpu(c, id), kRestart.count());
}

TEST(LostGpuSeconds, CountFromTheLastCheckpointOrTheStart) {
  Cluster c = one_node();
  JobId id = c.run(job("j"), {"node-1"});
  c.advance(100s);
  EXPECT_EQ(lost_gpu_seconds(c.job(id), c.now), 800);
  c.checkpoint(id, 10s);
  EXPECT_EQ(lost_gpu_seconds(c.job(id), c.now), 80);
  c.checkpoint(id, -10s);
  EXPECT_EQ(lost_gpu_seconds(c.job(id), c.now), 0);
}

TEST(LostGpuSeconds, OfWhoNeverRanAreNone) {
  Cluster c = one_node();
  JobId id = c.place(job("j"), {"node-1"});
  EXPECT_EQ(lost_gpu_seconds(c.job(id), c.now + 1h), 0);
}

}  // namespace
}  // namespace hai::test
