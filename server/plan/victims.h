#pragma once
// Running attempts as victims: how well each is protected, and for every node the least protection
// that has to be overcome to free a block of it. Counted per zone, so that a pass sees in a few
// steps that nobody can make room, which on a full cluster is the usual case.
//
//   protection = level × 128 + how strong its key is in the level (127: may not be interrupted by
//   its own level). Whoever waits can free a block only if every user of it is protected less or
//   equally. A necessary condition: may_interrupt() decides.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/knobs.h"
#include "server/plan/capacity.h"
#include "server/plan/ledger.h"
#include "server/plan/placement.h"

namespace hai {

// Whoever needs room.
struct Requester {
  const Job* job = nullptr;
  Priority level = Priority::low;
  int feedback_class = 0;
  int64_t usage = 0;  // of its user
  Duration waited{0};
  bool takes_turns = true;  // may interrupt its own level now
};

struct Running {
  JobId id;
  const Job* job = nullptr;
  int person = -1;
  Priority level = Priority::low;
  int feedback_class = 0;
  int gpus = 0;
  int group = -1;  // of nodes: slots' group
  int protection = 0;
  bool is_open = false;  // to its own level, if the order says so
  bool is_past_quantum = false;
  bool is_leaving = false;   // in any case: whoever takes its place costs nothing
  bool is_asked = false;     // by this pass
  bool is_flat = false;      // charged its whole quantum in the ledger
  bool is_silent = false;    // reports no checkpoints
  bool is_kept = false;      // interactive: nobody is given its nodes
  int protection_other = 0;  // while it is stuck or is not, whichever it is not now
  UnixTime loses_since{};
  UnixTime charged_since{};
  int64_t flat_gpu_seconds = 0;
  UnixTime next_change{};
};

// One that its own level may interrupt, if the order says so.
struct OpenVictim {
  const Running* running = nullptr;
  // What whoever takes its place must have waited for, in microseconds per GPU. One that reports no
  // checkpoints is charged the restart alone: silence never protects.
  int64_t price_per_gpu = 0;
  int64_t lost = 0;  // GPU-microseconds, as suspend_cost()
};

class VictimIndex {
 public:
  // A job's live attempt has changed, begun or ended.
  void update(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
              const Knobs& knobs, UnixTime now, JobId job);
  // Quanta that are over, classes that are reached.
  void advance(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
               const Knobs& knobs, UnixTime now);
  // What stands on the slot has changed, or what of it is free or held.
  void refresh_slot(const Capacity& capacity, int slot);

  const Running* find(JobId job) const;
  // Calls see(running) with everybody whom a job with GPUs of `level` may have to interrupt, before
  // may_interrupt(): those without GPUs, those of lower level and those who leave anyway …
  template <typename See>
  void for_each_below(Priority level, See&& see) const {
    for (const auto& [id, running] : leaving_) see(*running);
    for (const auto& [id, running] : without_gpus_) see(*running);
    for (const auto& [lower, ids] : by_level_) {
      if (lower >= level) break;
      for (const auto& [id, running] : ids) see(*running);
    }
  }
  // … and of its own level those that may be asked: who would lose least per GPU first.
  std::vector<OpenVictim> open_of(Priority level, const Knobs& knobs, UnixTime now) const;

  const std::set<JobId>& suspending() const { return suspending_; }
  const std::set<JobId>& crossing() const { return crossing_; }
  void set_asked(JobId job, bool asked) { running_.at(job).is_asked = asked; }
  // One that leaves, but nobody knows when: its nodes are not to be had.
  void set_stuck(const Capacity& capacity, JobId job, bool stuck);

  bool may_interrupt(const Knobs& knobs, const Requester& requester, const Ledger& ledger,
                     const Running& victim) const;
  // The most protection that a requester can overcome.
  static int reach(const Requester& requester);
  // Whether a requester with this reach could free a block for one rank on the slot. Considers
  // protection only, not cost.
  bool is_reachable(const Capacity& capacity, int slot, const RankSize& size, int reach) const;
  // Slots of the zone where a rank fits as it is, or when jobs without GPUs leave.
  void add_free_slots(const Capacity& capacity, int zone, const RankSize& size,
                      std::vector<int>& slots) const;
  // The least reach with which the demand could find its nodes, in one zone or in the two that have
  // most; kUnreachable if none is enough, −1 if free ones are, or would be without jobs without
  // GPUs. Counted, not walked.
  int needed_reach(const Capacity& capacity, const Demand& demand) const;
  static constexpr int kUnreachable = 10'000;

 private:
  struct Hash {
    size_t operator()(JobId id) const { return static_cast<size_t>(id.value * 0x9e3779b97f4a7c15); }
  };
  struct Size {
    RankSize rank;
    std::vector<int16_t> need;                  // by slot: protection to overcome
    std::vector<std::map<int, int>> histogram;  // by domain (zones only): need → nodes
  };
  // By the time since which work would be lost: of those that report checkpoints, and of the
  // others.
  struct OpenOfLevel {
    std::map<std::pair<UnixTime, JobId>, const Running*> reporting;
    std::map<std::pair<UnixTime, JobId>, const Running*> silent;
  };
  static UnixTime loses_since(const Job& job);
  void file(const Running& running, bool add);
  static constexpr size_t kSizesMax = 64;
  Size& size(const Capacity& capacity, const RankSize& rank) const;
  int need(const Capacity& capacity, int slot, const RankSize& rank) const;
  int need_of_host(const Slot& slot, const RankSize& rank) const;
  void drop(Ledger& ledger, JobId job);
  void refresh_slots_of(const Capacity& capacity, const Attempt& attempt);

  std::unordered_map<JobId, Running, Hash> running_;
  std::set<std::pair<UnixTime, JobId>> changes_;
  std::map<Priority, std::map<JobId, const Running*>> by_level_;  // without those that leave anyway
  std::map<Priority, OpenOfLevel> open_;
  std::map<JobId, const Running*> leaving_;
  std::map<JobId, const Running*> without_gpus_;  // likewise
  std::set<JobId> suspending_;
  std::set<JobId> crossing_;
  mutable std::vector<Size> sizes_;
};

}  // namespace hai
