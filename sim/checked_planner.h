#pragma once
// The production planner and, at each pass or at each `every`th, a planner that is new to the
// state: both must decide the same. This is what proves that the indexes followed every change.

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
  const int every_;
  int64_t passes_ = 0;
  TimeSharingPlanner planner_{VictimChoice::least_lost_work};
};

}  // namespace hai
