#pragma once
// The production planner and a planner that is new to the state: both must decide the same. This is
// what proves that the indexes followed every change. Compared are the passes that decide something
// and each kIdleEvery-th of the others; in large worlds, where reading the whole state costs most,
// each `every`th of these.

#include <functional>

#include "server/plan/time_sharing.h"

namespace hai {

class CheckedPlanner final : public Planner {
 public:
  // `fail` is told what differs.
  CheckedPlanner(std::function<void(std::string)> fail, int every)
      : fail_(std::move(fail)), every_(every) {}

  void update(const ClusterState& state, const Changes& changes) override;
  Plan pass(const ClusterState& state, const Knobs& knobs, UnixTime now) override;
  PendingReason pending_reason(const ClusterState& state, const Job& job) const override;

 private:
  const std::function<void(std::string)> fail_;
  static constexpr int kIdleEvery = 8;
  const int every_;
  int64_t idle_passes_ = 0;
  int64_t due_ = 0;
  TimeSharingPlanner planner_{VictimChoice::least_lost_work};
};

}  // namespace hai
