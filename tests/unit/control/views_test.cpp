// Jobs, nodes and totals as people see them.

#include "server/control/engine/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;

TEST(JobView, HasAReasonExactlyWhileItWaitsOrStarts) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  auto code = [&]() -> std::optional<PendingCode> {
    auto view = view_job(c.state(), c.job(id), {});
    return view.pending_reason ? std::optional(view.pending_reason->code) : std::nullopt;
  };
  EXPECT_EQ(code(), PendingCode::not_considered);
  c.emit(JobHeld{id, "held by ann"});
  EXPECT_EQ(code(), PendingCode::held);
  c.emit(JobReleased{id});
  c.place(id, c.on({"node-1"}));
  EXPECT_EQ(code(), PendingCode::starting);
  c.confirm(id);
  EXPECT_EQ(code(), std::nullopt);
  c.finish(id);
  EXPECT_EQ(code(), std::nullopt);
}

TEST(JobView, TakesThePlansReason) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  c.run(job("first"), {"node-1"});
  std::unique_ptr<Planner> planner = make_planner();
  std::map<JobId, int64_t> progress = {{id, 17}};
  const SoftFacts soft{planner.get(), &progress};
  EXPECT_EQ(view_job(c.state(), c.job(id), soft).pending_reason->code, PendingCode::not_considered);
  planner->pass(c.state(), c.knobs, c.now);
  JobView view = view_job(c.state(), c.job(id), soft);
  EXPECT_EQ(view.pending_reason,
            (PendingReason{PendingCode::resources,
                           "needs 1 whole node in training; 0 of 1 open node can give that now"}));
  EXPECT_EQ(view.progress_step, 17);
}

TEST(JobView, NamesTheNodesByRank) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-2", "node-1"});
  EXPECT_THAT(view_job(c.state(), c.job(id), {}).nodes, ElementsAre("node-2", "node-1"));
  c.finish(id);
  JobView view = view_job(c.state(), c.job(id), {});
  EXPECT_THAT(view.nodes, ElementsAre("node-2", "node-1")) << "where it ran last";
  EXPECT_EQ(view.exit_code, 0);
}

TEST(JobView, CarriesWhatIsKnownOfTheJob) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const UnixTime submitted = c.now;
  const JobId id = c.submit(job("j").user("bob").nodes(2).gpus(4).priority(Priority::high));
  c.advance(1min).place(id, c.on({"node-1", "node-2"}, GpuSet::first(4)));
  c.advance(1min).confirm(id);
  const UnixTime started = c.now;
  c.checkpoint(id, 10s);
  c.emit(LifeStateSet{id, 1, "warm"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  const JobView leaving = view_job(c.state(), c.job(id), {});
  EXPECT_EQ(leaving.suspend_deadline, c.now + 60s);
  EXPECT_EQ(leaving.last_attempt_reason, "asked");
  EXPECT_EQ(leaving.attempt_state, "suspending");
  EXPECT_EQ(leaving.exit_code, std::nullopt);
  c.leave(id);
  c.emit(JobRequeued{id, true, false, "test"});
  c.advance(1min).finish(id, JobState::stopped);
  const JobView view = view_job(c.state(), c.job(id), {});
  EXPECT_EQ(view.id, id.value);
  EXPECT_EQ(view.name, "j");
  EXPECT_EQ(view.user, "bob");
  EXPECT_EQ(view.priority, Priority::high);
  EXPECT_EQ(view.state, JobState::stopped);
  EXPECT_EQ(view.node_count, 2);
  EXPECT_EQ(view.gpus_per_node, 4);
  EXPECT_EQ(view.submitted_at, submitted);
  EXPECT_EQ(view.started_at, started);
  EXPECT_EQ(view.ended_at, c.now);
  EXPECT_EQ(view.attempt, 1);
  EXPECT_EQ(view.end_reason, "test");
  EXPECT_EQ(view.counters.suspend_count, 1);
  EXPECT_EQ(view.counters.requeue_count, 1);
  EXPECT_EQ(view.counters.lost_gpu_seconds, c.job(id).counters.lost_gpu_seconds);
  EXPECT_EQ(view.checkpoint, c.job(id).checkpoint);
  EXPECT_EQ(view.whole_life_state, "warm");
  EXPECT_EQ(view.spec->name, "j");
}

TEST(JobView, SaysWhomTheEndOfAnAttemptWaitsFor) {
  Cluster c = cluster(nodes(3, gpus(8)));
  const JobId id = c.run(job("j").nodes(3), {"node-1", "node-2", "node-3"});
  c.emit(AttemptEnding{id, 1, {AttemptState::lost, 0, "rank 0 is gone", true}});
  c.emit(RankEnded{id, 1, 0, RankState::lost, ExitCause::lost, 0, ""});
  auto note = [&] { return view_job(c.state(), c.job(id), {}).last_attempt_reason; };
  EXPECT_EQ(note(), "rank 0 is gone");
  c.set_liveness("node-1", Liveness::suspect);
  EXPECT_EQ(note(), "rank 0 is gone") << "nothing of it is left there";
  c.set_liveness("node-3", Liveness::suspect);
  EXPECT_EQ(note(), "rank 0 is gone; waits until node-3 (test) is sure to run nothing of it");
  c.leave(id, AttemptState::lost);
  EXPECT_EQ(note(), "test") << "over";
}

TEST(JobView, NamesItsGroupWithTheZoneItIsBoundTo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_EQ(view_job(c.state(), c.job(c.submit(job("a"))), {}).group, "training");
  EXPECT_EQ(view_job(c.state(), c.job(c.submit(job("b").zone("A"))), {}).group, "training#A");
}

TEST(NodeView, HealthIsTheWorstThatStands) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const NodeId id = c.node_id("node-1");
  auto health = [&] { return view_node(c.node("node-1"), {}).health; };
  auto check = [&](const std::string& name, CheckVerdict verdict) {
    c.emit(NodeCheckChanged{id, {.name = name, .verdict = verdict}});
  };
  EXPECT_EQ(health(), "ok");
  check("b", CheckVerdict::warn);
  EXPECT_EQ(health(), "warn");
  check("a", CheckVerdict::fail);
  EXPECT_EQ(health(), "fail");
  c.emit(NodeCheckHandled{id, "a", "", FaultAnswer::accepted});
  EXPECT_EQ(health(), "warn") << "a person has accepted it";
  c.set_liveness("node-1", Liveness::suspect);
  EXPECT_EQ(health(), "unknown");
}

TEST(NodeView, ListsWhatItsAgentReportsBesideWhatIsStored) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const NodeId id = c.node_id("node-1");
  c.emit(NodeCheckChanged{id, {.name = "m", .verdict = CheckVerdict::fail}});
  Sessions sessions;
  sessions.open(ConnectionId{1}, "node-1");
  Session& session = *sessions.find(ConnectionId{1});
  sessions.bind(session, id);
  session.checks = {{.name = "z"}, {.name = "m", .verdict = CheckVerdict::fail}, {.name = "a"}};
  session.gpu_readings = std::vector<GpuReading>(8);
  const NodeView view = view_node(c.node("node-1"), {.sessions = &sessions});
  std::vector<std::string> names;
  for (const NodeCheck& check : view.checks) names.push_back(check.result.name);
  EXPECT_THAT(names, ElementsAre("a", "m", "z"));
  EXPECT_EQ(view.gpu_readings.size(), 8U);
  EXPECT_EQ(view_node(c.node("node-1"), {}).checks.size(), 1U);
}

TEST(NodeView, GpusAreFreeOnlyWhereJobsMayStart) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j").gpus(2), {"node-1"}, GpuSet::first(2));
  NodeView view = view_node(c.node("node-1"), {});
  EXPECT_EQ(view.gpus_free, 6);
  EXPECT_THAT(view.jobs, ElementsAre(id.value));
  c.set_scheduling("node-1", Scheduling::cordoned);
  EXPECT_EQ(view_node(c.node("node-1"), {}).gpus_free, 0);
}

TEST(ClusterView, CountsEveryGpuOnce) {
  Cluster c = cluster(nodes(4, gpus(8)));
  JobId low = c.run(job("low").gpus(4).priority(Priority::low), {"node-1"}, GpuSet::first(4));
  JobId high = c.submit(job("high"));
  c.emit(NodesReserved{high, {c.on({"node-1"}), Priority::normal, {low}, c.now}});
  c.set_liveness("node-3", Liveness::down);
  c.run(job("runs").gpus(2), {"node-4"}, GpuSet::first(2));
  c.set_scheduling("node-4", Scheduling::cordoned);
  ClusterView view = view_cluster(c.state(), "test");
  EXPECT_EQ(view.gpus_total, 32);
  EXPECT_EQ(view.gpus_used, 6);
  EXPECT_EQ(view.gpus_held, 4) << "of node-1 what is not used any more";
  EXPECT_EQ(view.gpus_free, 8) << "node-2";
  EXPECT_EQ(view.gpus_unusable, 14) << "node-3 and the rest of node-4";
  EXPECT_EQ(view.nodes_by_liveness["down"], 1);
  EXPECT_EQ(view.nodes_by_scheduling["cordoned"], 1);
  EXPECT_EQ(view.jobs_by_state["running"], 2);
}

}  // namespace
}  // namespace hai::test
