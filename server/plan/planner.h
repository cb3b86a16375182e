#pragma once
// Who runs next. A planner keeps indexes of the state between passes, so that a pass costs what has
// changed; it decides from the state, the knobs and the time alone: a planner that has just been
// given a state decides the same as one that followed every change to it. Ties break by id; nothing
// is random.

#include <memory>

#include "common/knobs.h"
#include "server/model/cluster_state.h"
#include "server/plan/placement.h"
#include "server/plan/plan.h"

namespace hai {

class Planner {
 public:
  virtual ~Planner() = default;

  // What ClusterState::take_changes() gave; to be called with all of it before each pass.
  virtual void update(const ClusterState& state, const Changes& changes) = 0;
  // One pass. Leaves the indexes as update() left them: the plan is only a wish until its events
  // come back through update().
  virtual Plan pass(const ClusterState& state, const Knobs& knobs, UnixTime now) = 0;
  // Why a waiting job waits, as of the last pass. Costs no more than this one job.
  virtual PendingReason pending_reason(const ClusterState& state, const Job& job) const = 0;
};

// Which legal victims have to leave, for comparison; production takes the first.
enum class VictimChoice { least_lost_work, youngest, lowest_priority };

// The production planner (plan/time_sharing.h). With `looks_at_all` a pass leaves nobody out for
// want of time (WaitingIndex::left_out).
std::unique_ptr<Planner> make_planner(VictimChoice victims = VictimChoice::least_lost_work,
                                      bool looks_at_all = false);

// One pass by a planner that is new to the state, with the reasons of all waiting jobs.
Plan plan(const ClusterState& state, const Knobs& knobs, UnixTime now);

}  // namespace hai
