// A sample of a real trace under every policy: every job ends, gangs are whole, and the same inputs
// give the same digest.

#include "sim/trace/replay.h"

#include <gtest/gtest.h>

#include "sim/baselines/easy.h"
#include "sim/baselines/hai_open.h"

namespace hai::test {
namespace {

std::unique_ptr<Planner> planner_of(const std::string& policy, const Fleet& fleet) {
  if (policy == "hai-open") return make_hai_open_planner(1);
  if (policy == "easy") {
    return make_easy_planner(
        [&fleet](const Job& job) { return fleet.time_left(Fleet::job_of(job.spec->name)); });
  }
  return make_planner();
}

ReplayResult run(const std::string& policy, uint64_t seed = 1) {
  TraceCluster cluster = read_cluster("4x8").value();
  auto trace = read_trace(std::string(HAI_TEST_DATA) + "/philly_200.csv", {.load = 4}, cluster);
  EXPECT_TRUE(trace.is_ok()) << trace.status().message();
  ReplayOptions options{.fleet = {.seed = seed}, .knobs = replay_knobs()};
  if (policy == "fifo") options.knobs.policy = Policy::fifo;
  options.make_planner = [&](const Fleet& fleet) { return planner_of(policy, fleet); };
  Failures failures({{.node = 1, .start = 2h, .end = 5h, .reason = "GPU"}}, 24h);
  return replay(cluster, trace.value(), std::move(failures), options);
}

class Replay : public ::testing::TestWithParam<std::string> {};

TEST_P(Replay, EveryJobEndsAndTheDigestIsTheSame) {
  ReplayResult first = run(GetParam());
  EXPECT_EQ(first.measures.completed, 200);
  EXPECT_EQ(first.measures.failed, 0);
  EXPECT_EQ(first.refused, 0);
  EXPECT_FALSE(first.is_stuck);
  EXPECT_GT(first.measures.wait_s.max, 0);
  EXPECT_LE(first.measures.demand_satisfied, 1);
  EXPECT_EQ(run(GetParam()).measures.digest, first.measures.digest);
}

INSTANTIATE_TEST_SUITE_P(Policies, Replay,
                         ::testing::Values("feedback", "fifo", "easy", "hai-open"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ReplayFacts, TheSeedMatters) {
  // The broken node's jobs come back after another restart time.
  EXPECT_NE(run("hai-open", 1).measures.digest, run("hai-open", 2).measures.digest);
}

// Starts nobody.
class Idle final : public Planner {
  void update(const ClusterState&, const Changes&) override {}
  Plan pass(const ClusterState&, const Knobs&, UnixTime) override { return {}; }
  PendingReason pending_reason(const ClusterState&, const Job&) const override { return {}; }
};

TEST(ReplayFacts, GivesUpWhenNothingRunsForMonths) {
  TraceCluster cluster = read_cluster("2x8").value();
  Trace trace{.jobs = {{.work = 60s}}, .users = {"ann"}};
  ReplayOptions options{.knobs = replay_knobs()};
  options.make_planner = [](const Fleet&) { return std::make_unique<Idle>(); };
  EXPECT_TRUE(replay(cluster, trace, {}, options).is_stuck);
}

TEST(ReplayFacts, AJobMayRunForMonthsAlone) {
  TraceCluster cluster = read_cluster("2x8").value();
  Trace trace{.jobs = {{.work = 24h * 150}}, .users = {"ann"}};
  ReplayOptions options{.knobs = replay_knobs()};
  options.make_planner = [](const Fleet&) { return make_planner(); };
  EXPECT_EQ(replay(cluster, trace, {}, options).measures.completed, 1);
}

TEST(ReplayFacts, KnobsOfLeasesMeanNothing) {
  EXPECT_FALSE(is_replay_knob("heartbeat"));
  EXPECT_TRUE(is_replay_knob("min_quantum"));
}

}  // namespace
}  // namespace hai::test
