// When a job that says nothing any more is ended, and whom it is laid to.

#include "server/control/health/decide_hang.h"

#include "tests/unit/control/health_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Hang, NeedsAllRanksSilentAndASecondSourceAndNamesWhoStoppedFirst) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(2), {"node-1", "node-2"});
  const auto rank = [&](int index, int64_t step, std::vector<RankSign> signs) {
    RankStatus status = running({job, 1, index});
    status.progress_step = step;
    status.signs = std::move(signs);
    status.word_at = w.c.now - 40min;
    return status;
  };
  const RankSign silent{HangSignKind::no_progress, w.c.now - 40min};
  const RankSign idle{HangSignKind::gpu_idle, w.c.now - 10min};
  w.report("node-1", {}, {rank(0, 120, {silent})});
  w.report("node-2", {}, {rank(1, 117, {})});
  w.advance(2s);
  EXPECT_FALSE(w.c.attempt(job).end) << "one rank talks";
  w.report("node-2", {}, {rank(1, 117, {silent})});
  w.advance(2s);
  EXPECT_FALSE(w.c.attempt(job).end) << "words alone are one source";
  w.report("node-1", {}, {rank(0, 120, {silent, idle})});
  w.advance(2s);
  ASSERT_TRUE(w.c.attempt(job).end);
  EXPECT_TRUE(w.c.attempt(job).end->take_evidence);
  EXPECT_TRUE(w.c.attempt(job).end->infrastructure);
  EXPECT_THAT(w.c.attempt(job).end->suspects, ElementsAre(w.c.node_id("node-2")));
  EXPECT_THAT(w.c.attempt(job).end->reason, HasSubstr("rank 1 on node-2 stopped first"));
  EXPECT_THAT(w.incidents(kHang), ElementsAre(fmt::format("job/{}", job.value)));
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::killed, 137)});
  w.report("node-2", {}, {exited({job, 1, 1}, ExitCause::killed, 137)});
  w.advance(2s);
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
  EXPECT_THAT(w.c.job(job).avoid, ElementsAre(w.c.node_id("node-2")));
  EXPECT_THAT(w.incidents(kHang), IsEmpty());
  EXPECT_THAT(w.marks("node-2"), ElementsAre("gang_failed hang"));
}

TEST(Hang, IsNoneOfAJobThatWantsNoWatchdog) {
  HealthWorld w(cluster(nodes(1, gpus(8))));
  JobSpec spec = hai::test::job("j").spec();
  spec.watchdog = 0s;
  const JobId job{1};
  w.c.emit(JobSubmitted{job, "ann", "", std::make_shared<const JobSpec>(spec), {}});
  w.c.place(job, w.c.on({"node-1"}));
  w.c.confirm(job);
  RankStatus status = running({job, 1, 0});
  status.signs = {{HangSignKind::no_progress, w.c.now - 40min},
                  {HangSignKind::gpu_idle, w.c.now - 40min}};
  w.report("node-1", {}, {status});
  w.advance(2s);
  EXPECT_FALSE(w.c.attempt(job).end);
  EXPECT_THAT(w.incidents(kHang), IsEmpty());
}

}  // namespace
}  // namespace hai::test
