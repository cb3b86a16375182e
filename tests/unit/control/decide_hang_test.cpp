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

// Jobs that block themselves: all ranks fall silent at once, and nobody stopped first.
class SelfMadeHang : public ::testing::Test {
 protected:
  SelfMadeHang() : w(cluster(nodes(100, gpus(8)))) {
    w.c.add_user("ben");
    w.c.add_user("cid");
  }
  // A job of `user` on node-`first` and the next ones.
  void hangs(const std::string& user, int first, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("node-{}", first + i));
    const JobId id = w.c.run(
        hai::test::job(fmt::format("j{}", ++jobs)).user(user).nodes(count).restart(9), names);
    for (int rank = 0; rank < count; ++rank) {
      RankStatus status = running({id, 1, rank});
      status.signs = {{HangSignKind::no_progress, w.c.now - 40min},
                      {HangSignKind::gpu_idle, w.c.now - 40min}};
      status.word_at = w.c.now - 40min;
      w.report(names[static_cast<size_t>(rank)], {}, {status});
    }
    w.advance(2s);
    ASSERT_TRUE(w.c.attempt(id).end);
    for (int rank = 0; rank < count; ++rank) {
      w.report(names[static_cast<size_t>(rank)], {},
               {exited({id, 1, rank}, ExitCause::killed, 137)});
    }
    w.advance(2s);
  }
  int tested() {
    int count = 0;
    for (const auto& [id, node] : w.c.state().nodes()) {
      count += node.health.repair.step == RepairStep::bisecting ? 1 : 0;
    }
    return count;
  }

  HealthWorld w;
  int jobs = 0;
};

TEST_F(SelfMadeHang, HasItsNodesTestedOnceADayAndPerson) {
  hangs("ann", 1, 4);
  EXPECT_EQ(tested(), 4);
  w.sessions.bisections.clear();
  for (const auto& [id, node] : w.c.state().nodes()) {
    if (node.health.repair.step != RepairStep::bisecting) continue;
    w.c.emit(NodeRepairChanged{id, {}});
    w.c.emit(NodeSchedulingChanged{id, Scheduling::open, "", ""});
  }
  hangs("ann", 11, 4);
  EXPECT_EQ(tested(), 0);
  w.c.advance(25h);
  hangs("ann", 21, 4);
  EXPECT_EQ(tested(), 4);
}

TEST_F(SelfMadeHang, OfMoreNodesThanATwentiethTakesNoneOut) {
  hangs("ann", 1, 60);
  EXPECT_EQ(tested(), 0);
  EXPECT_THAT(w.incidents(kBisection), IsEmpty());
  hangs("ben", 58, 30);
  EXPECT_EQ(tested(), 3) << "node-58 to node-60: jobs of two people hung there";
}

TEST_F(SelfMadeHang, OfSeveralPeopleTakesNoMoreOutTogether) {
  hangs("ann", 1, 5);
  hangs("ben", 11, 5);
  EXPECT_EQ(tested(), 5) << "three are left of eight";
  hangs("cid", 21, 3);
  EXPECT_EQ(tested(), 8);
}

TEST_F(SelfMadeHang, HasNoNodeTestedThatWasLately) {
  std::vector<NodeId> nodes;
  for (int i = 1; i <= 4; ++i) nodes.push_back(w.c.node_id(fmt::format("node-{}", i)));
  w.sessions.hangs.push_back({"cid", nodes, nodes, w.c.now});
  hangs("ben", 1, 4);
  EXPECT_EQ(tested(), 0);
}

TEST_F(SelfMadeHang, WhoseNodesWereTooManyHasLessTestedTheSameDay) {
  hangs("ann", 1, 60);
  EXPECT_EQ(tested(), 0);
  hangs("ann", 71, 2);
  EXPECT_EQ(tested(), 2);
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
