#pragma once
// Who has to leave so that a job can start: among the legal victims a set with little lost work,
// and none that could have stayed. Few victims: every set is tried. Many: greedy by lost work per
// node and by lost work per freed node, the better of the two, and then every victim is proved
// necessary: exact for victims of one node, a heuristic for overlapping gangs (tests/property
// measures how good).

#include <map>
#include <optional>
#include <vector>

#include "common/knobs.h"
#include "server/plan/capacity.h"
#include "server/plan/placement.h"
#include "server/plan/planner.h"
#include "server/plan/victims.h"

namespace hai {

struct Preemption {
  Placement placement;
  std::vector<JobId> victims;  // by id; those already leaving included
  int64_t cost = 0;            // GPU-microseconds
};

// Lists of victims that many searches of one moment share.
class OpenLists {
 public:
  OpenLists(const VictimIndex& running, const Knobs& knobs, UnixTime now)
      : running_(running), knobs_(knobs), now_(now) {}
  const std::vector<OpenVictim>& of(Priority level);

 private:
  const VictimIndex& running_;
  const Knobs& knobs_;
  const UnixTime now_;
  std::map<Priority, std::vector<OpenVictim>> lists_;
};

struct PreemptContext {
  Capacity& capacity;  // tried on, and left as it was
  const VictimIndex& running;
  OpenLists& open;
  const Ledger& ledger;
  const Knobs& knobs;
  UnixTime now;
  VictimChoice choice = VictimChoice::least_lost_work;
};

// `fails_for_all`, if given: whether a failure holds for everybody who reaches no further and has
// waited no longer (its own user's jobs did not stand in the way).
std::optional<Preemption> preempt(const PreemptContext& context, const Demand& demand,
                                  const Requester& requester, bool* fails_for_all = nullptr);

}  // namespace hai
