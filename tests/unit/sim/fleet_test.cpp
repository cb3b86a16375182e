// What jobs do on the fleet when they are asked to leave or their node breaks, seen through a
// replay of one job under a planner that follows a script.

#include <gmock/gmock.h>

#include "sim/trace/replay.h"

namespace hai::test {
namespace {

// Starts waiting jobs on the first node that is free, and once asks whoever runs to leave.
class Script final : public Planner {
 public:
  explicit Script(Duration suspend_after) : suspend_after_(suspend_after) {}
  void update(const ClusterState&, const Changes&) override {}
  Plan pass(const ClusterState& state, const Knobs&, UnixTime now) override {
    Plan plan;
    for (JobId id : state.live()) {
      const Attempt& attempt = *state.find(id)->attempt;
      if (asked_ || suspend_after_ == Duration{0} || now - attempt.placed_at < suspend_after_)
        continue;
      asked_ = true;
      plan.suspends.push_back({id, "the script says so"});
    }
    for (const auto& [key, id] : state.waiting()) {
      for (const auto& [node_id, node] : state.nodes()) {
        if (!node.takes_jobs() || !node.occupants.empty()) continue;
        plan.starts.push_back({id, {{node_id, node.all_gpus()}}, Priority::normal});
        break;
      }
    }
    return plan;
  }
  PendingReason pending_reason(const ClusterState&, const Job&) const override { return {}; }

 private:
  Duration suspend_after_;
  bool asked_ = false;
};

Measures run_one(Duration work, Duration suspend_after, double saves_when_asked,
                 Failures failures = {}) {
  TraceCluster cluster = read_cluster("2x8").value();
  Trace trace;
  trace.users = {"ann"};
  trace.jobs = {{.submit = 0s, .work = work}};
  ReplayOptions options{.fleet = {.seed = 3, .saves_when_asked = saves_when_asked},
                        .knobs = replay_knobs()};
  options.knobs.plan_period = 10s;
  options.make_planner = [&](const Fleet&) { return std::make_unique<Script>(suspend_after); };
  ReplayResult result = replay(cluster, trace, std::move(failures), options);
  EXPECT_EQ(result.measures.completed, 1);
  return result.measures;
}

double gpu_hours(Duration duration) { return 8 * static_cast<double>(duration.count()) / 3.6e9; }

TEST(Fleet, AJobTakesItsRunTimeAndTheLaunch) {
  Measures m = run_one(2h, 0s, 1);
  EXPECT_EQ(m.jct_s.mean, 7201);
  EXPECT_EQ(m.lost_gpu_hours, 0);
  EXPECT_EQ(m.switch_gpu_hours, 0);
  EXPECT_EQ(m.preemptions, 0);
}

TEST(Fleet, WhoSavesLosesNothingAndPaysTheSwitch) {
  JobModel model = job_model(3, 0, 1);
  Measures m = run_one(2h, 1h, 1);
  EXPECT_EQ(m.preemptions, 1);
  EXPECT_EQ(m.lost_gpu_hours, 0);
  Duration price = model.save + kLaunchDelay + model.restart;
  EXPECT_DOUBLE_EQ(m.switch_gpu_hours, gpu_hours(price));
  EXPECT_NEAR(m.jct_s.mean, 7201 + static_cast<double>(price / 1s), 2);
}

TEST(Fleet, WhoDoesNotSaveLosesWhatItDidSinceItsCheckpoint) {
  JobModel model = job_model(3, 0, 0);
  Measures m = run_one(2h, 1h, 0);
  EXPECT_EQ(m.preemptions, 1);
  EXPECT_GT(m.lost_gpu_hours, 0);
  EXPECT_LT(m.lost_gpu_hours, gpu_hours(model.checkpoint_period));
  EXPECT_EQ(m.lost_gpu_hours, m.lost_when_asked_gpu_hours);
  EXPECT_DOUBLE_EQ(m.switch_gpu_hours, gpu_hours(kLaunchDelay + model.restart));
}

TEST(Fleet, WhoEndsWithinItsGraceHasSucceeded) {
  Measures m = run_one(10min, 9min + 30s, 0);
  EXPECT_EQ(m.preemptions, 0);
  EXPECT_EQ(m.lost_gpu_hours, 0);
}

TEST(Fleet, ABrokenNodeCostsTheWorkSinceTheCheckpointAndAnotherNodeGoesOn) {
  JobModel model = job_model(3, 0, 1);
  Failures failures({{.node = 0, .start = 1h, .end = 30h, .reason = "GPU"}}, 48h);
  Measures m = run_one(2h, 0s, 1, std::move(failures));
  EXPECT_EQ(m.requeues, 1);
  EXPECT_EQ(m.preemptions, 0);
  EXPECT_GT(m.lost_gpu_hours, 0);
  EXPECT_LT(m.lost_gpu_hours, gpu_hours(model.checkpoint_period));
  EXPECT_EQ(m.lost_when_asked_gpu_hours, 0);
  EXPECT_EQ(m.switch_gpu_hours, 0);
  double lost_s = m.lost_gpu_hours / 8 * 3600;
  EXPECT_NEAR(m.jct_s.mean, 7202 + lost_s + static_cast<double>(model.restart / 1s), 2);
}

}  // namespace
}  // namespace hai::test
