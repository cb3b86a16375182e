// Whatever events follow, what was durable before them can be had back.

#include <gtest/gtest.h>

#include "server/model/cluster_state.h"
#include "server/model/invariants.h"
#include "tests/support/random_cluster.h"

namespace hai::test {
namespace {

void apply(const AppendBatch& batch, ClusterState& state) {
  for (const Event& event : batch.events) state.apply(event);
}

TEST(DurableRows, GiveBackWhatWasDurable) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomCluster random(seed);
    ClusterState state;
    state.mark_durable();
    ClusterState durable = state;
    for (int turn = 1; turn <= 60; ++turn) {
      apply(
          turn % 20 == 1 ? random.start_epoch(Epoch{turn}) : random.next_batch(Epoch{1}, turn % 9),
          state);
      EXPECT_EQ(state.has_undurable(), state.last_seq() != durable.last_seq());
      ClusterState copy = state;
      const ClusterState restored(std::move(copy).take_durable());
      ASSERT_TRUE(restored.equals(durable)) << "seed " << seed << ", turn " << turn;
      EXPECT_EQ(violated_invariants(restored), std::vector<std::string>());
      if (turn % 3 != 0) continue;  // an image outlives several batches, too
      state.mark_durable();
      durable = state;
    }
  }
}

TEST(DurableRows, GiveBackIncidents) {
  RandomCluster random(1);
  ClusterState state;
  apply(random.start_epoch(Epoch{1}), state);
  const auto emit = [&state](EventBody body) {
    state.apply({state.last_seq() + 1, unix_micros(5), "server", std::move(body)});
  };
  emit(IncidentOpened{.incident = IncidentId{1}, .kind = "mass_loss", .summary = "3 nodes"});
  state.mark_durable();
  const ClusterState durable = state;
  emit(IncidentChanged{.incident = IncidentId{1}, .summary = "4 nodes"});
  emit(IncidentOpened{.incident = IncidentId{2}, .kind = "mass_loss"});
  emit(IncidentClosed{.incident = IncidentId{1}, .reason = "over"});
  const ClusterState restored(std::move(state).take_durable());
  EXPECT_TRUE(restored.equals(durable));
}

TEST(DurableRows, AreNotKeptUntilSomebodyAsks) {
  RandomCluster random(1);
  ClusterState state;
  apply(random.start_epoch(Epoch{1}), state);
  EXPECT_FALSE(state.has_undurable());
}

}  // namespace
}  // namespace hai::test
