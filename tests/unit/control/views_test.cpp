// Jobs, nodes and totals as people see them.

#include "server/control/views.h"

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
  EXPECT_EQ(view_job(c.state(), c.job(id), soft).pending_reason->code,
            PendingCode::not_considered);
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
