#pragma once
// A planner that is timed: how long its passes took, with the updates that came before each. The
// only real clock of a replay; nothing of it comes back into the replay.

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/plan/planner.h"

namespace hai {

struct PlanTimes {
  std::vector<float> pass_ms;
  double total_s = 0;
};

class MeasuredPlanner final : public Planner {
 public:
  MeasuredPlanner(std::unique_ptr<Planner> planner, PlanTimes& times)
      : planner_(std::move(planner)), times_(times) {}

  void update(const ClusterState& state, const Changes& changes) override {
    const auto start = std::chrono::steady_clock::now();
    planner_->update(state, changes);
    since_pass_ += std::chrono::steady_clock::now() - start;
  }

  Plan pass(const ClusterState& state, const Knobs& knobs, UnixTime now) override {
    const auto start = std::chrono::steady_clock::now();
    Plan plan = planner_->pass(state, knobs, now);
    since_pass_ += std::chrono::steady_clock::now() - start;
    const double seconds = std::chrono::duration<double>(since_pass_).count();
    times_.pass_ms.push_back(static_cast<float>(seconds * 1e3));
    times_.total_s += seconds;
    since_pass_ = {};
    return plan;
  }

  PendingReason pending_reason(const ClusterState& state, const Job& job) const override {
    return planner_->pending_reason(state, job);
  }

 private:
  std::unique_ptr<Planner> planner_;
  PlanTimes& times_;
  std::chrono::steady_clock::duration since_pass_{};
};

}  // namespace hai
