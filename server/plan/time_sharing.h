#pragma once
// The production planner: a time-sharing, preemptive scheduler (docs/contract.md, Scheduling). This
// file is its indexes; plan/pass.cpp is what one pass does with them.

#include <map>
#include <set>
#include <vector>

#include "server/plan/capacity.h"
#include "server/plan/ledger.h"
#include "server/plan/planner.h"
#include "server/plan/victims.h"
#include "server/plan/waiting.h"

namespace hai {

// Everything a pass looks at. A pass may change capacity, ledger and marks, and puts them back.
struct PlanIndex {
  Capacity capacity;
  Ledger ledger;
  WaitingIndex waiting;
  VictimIndex running;
  std::set<NodeId> draining;
  std::set<NodeId> marked;  // something speaks against them
  // By the last pass, for want of time: WaitingIndex::left_out(). Only to be compared with.
  std::set<const Bucket*> left_out;
};

class TimeSharingPlanner final : public Planner {
 public:
  explicit TimeSharingPlanner(VictimChoice victims, bool looks_at_all = false)
      : victim_choice_(victims), looks_at_all_(looks_at_all) {}

  void update(const ClusterState& state, const Changes& changes) override;
  Plan pass(const ClusterState& state, const Knobs& knobs, UnixTime now) override;
  PendingReason pending_reason(const ClusterState& state, const Job& job) const override;
  // When jobs of one level last took turns.
  UnixTime turns_at() const { return turns_at_; }
  void set_turns_at(UnixTime time) { turns_at_ = time; }
  // The indexes as of `now`, for whoever asks what a pass would see.
  PlanIndex& index_at(const ClusterState& state, const Knobs& knobs, UnixTime now);
  // With the reasons of all waiting jobs, as they are at the end of the pass.
  Plan pass_with_reasons(const ClusterState& state, const Knobs& knobs, UnixTime now);

 private:
  Plan run(const ClusterState& state, const Knobs& knobs, UnixTime now, bool with_reasons);
  void rebuild(const ClusterState& state);
  void apply(const ClusterState& state, const Changes& changes);
  void update_job(const ClusterState& state, JobId job);  // it has changed
  void file_job(const ClusterState& state, JobId job);

  const VictimChoice victim_choice_;
  const bool looks_at_all_;  // in each pass, however long it takes: what-ifs stand still in time
  PlanIndex index_;
  Knobs knobs_;  // of the last pass, as is the time
  UnixTime now_{};
  UnixTime turns_at_ = UnixTime::min();
  bool must_rebuild_ = true;
  std::map<JobId, PendingReason> reasons_;  // that the last pass gave
};

}  // namespace hai
