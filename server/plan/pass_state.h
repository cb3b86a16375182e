#pragma once
// What the stages of one pass share: the index they try on, the plan they write, and what they have
// promised so far.

#include <map>
#include <set>

#include "server/plan/leaving.h"
#include "server/plan/preempt.h"
#include "server/plan/time_sharing.h"

namespace hai {

struct PassState {
  const ClusterState& state;
  const Knobs& knobs;
  const UnixTime now;
  PlanIndex& index;
  const VictimChoice victim_choice;
  // Jobs of one level take turns at most once every plan_period: nothing is lost by that, and the
  // passes in between need not look for whom to ask.
  const bool takes_turns;
  OpenLists open{index.running, knobs, now};
  Plan plan;

  std::set<JobId> kept;                      // jobs whose reservation stands
  std::map<JobId, std::set<JobId>> awaited;  // for whom each of them waits
  HostTaken taken;                           // by those of them that start
  std::set<JobId> asked;                     // victims of this pass
  std::set<JobId> stuck;  // leave, but not before a node answers that fell silent with many others
  std::vector<JobId>
      refiled;       // jobs whose reservation is gone, put among the waiting for this pass
  int crossing = 0;  // jobs that run across zones, or will
  // A new leader hears of one node after the other. Until the last is back, or surely will not be,
  // nobody is asked to leave: the nodes that are missing may be the free ones.
  bool is_settling = false;

  bool crosses(const Placement& placement) const {
    return crosses_zones(state, placement.front().node, placement.back().node);
  }
  PreemptContext preempt_context() {
    return {index.capacity, index.running, open, index.ledger, knobs, now, victim_choice};
  }
  // The slots of these places are used or free in another way now.
  void refresh(const Placement& placement) {
    for (const RankPlacement& place : placement) {
      index.running.refresh_slot(index.capacity, index.capacity.index_of(place.node));
    }
  }
};

// ---- reservations.cpp

bool is_settling(const ClusterState& state, const Knobs& knobs, UnixTime now);
// Attempts that leave and cannot end: a rank is on a node that fell silent with so many
// others that nobody says it is down. The nodes they stand on are not free soon.
void find_stuck(PassState& pass);
// Stage 1: those whose victims have left start, those that can't be used any more go back.
void settle_reservations(PassState& pass);
// Starts the job that nodes are held for where it fits now, without those who leave for it, and
// gives these back; false, with nothing changed, if it fits nowhere.
bool start_elsewhere(PassState& pass, const Job& holder, const Demand& demand);
// Gives back as few reservations of lower level as it takes so that the demand finds room; false,
// with nothing changed, if that would not help. Their victims are leaving already, so that nobody
// new has to.
bool take_back_lower_reservations(PassState& pass, const Demand& demand,
                                  const Requester& requester);
// ---- defragment.cpp

// A waiting gang of whole nodes that lacks only them: GPUs are free, but in pieces.
struct Scattered {
  const Bucket* bucket = nullptr;
  const Job* job = nullptr;
  Priority level = Priority::low;
};
// Moves small jobs that save out of its way, if every one of them finds room beside
// others and the GPU time that the gang's quantum wins exceeds what the moves cost. At most
// defrag_moves_per_hour.
std::optional<ReserveItem> defragment(PassState& pass, const Scattered& gang);

// ---- reservations.cpp

// The last stage: victims that nobody needs any more go on.
void release_pointless_suspensions(PassState& pass);

}  // namespace hai
