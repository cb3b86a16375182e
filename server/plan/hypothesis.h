#pragma once
// A node group in which things can be thought away: closed nodes, running jobs, reservations. For
// one waiting job; asks whether it could be placed then. Jobs that it may interrupt stand in
// nobody's way.

#include <vector>

#include "server/plan/placement.h"
#include "server/plan/time_sharing.h"

namespace hai {

// One thing that may be thought away.
struct Obstacle {
  enum class Kind { node, job, reservation } kind = Kind::job;
  JobId job;    // that runs, or that the nodes are held for
  NodeId node;  // of Kind::node
  bool crosses_zones = false;
  Placement covers;  // GPUs that nobody gets while it is there …
  HostAsk ask;       // … and what each rank takes of CPUs and memory
};

class Hypothesis {
 public:
  // `gone` are jobs whose quota is free again: an automatic level may be higher for it.
  Hypothesis(const ClusterState& state, const Knobs& knobs, UnixTime now, const Job& job,
             const std::vector<JobId>& gone = {});

  const Demand& demand() const { return demand_; }
  // The level it waits at: of an automatic one the highest with quota free.
  Priority level() const { return requester_.level; }
  // Why it has no quota, even if these jobs were gone; "" if it has.
  std::string quota_text(const ClusterState& state, const std::vector<JobId>& gone) const;
  const Requester& requester() const { return requester_; }
  const PlanIndex& index() const { return index_; }

  const std::vector<Obstacle>& obstacles() const { return obstacles_; }
  bool is_away(int obstacle) const { return is_away_[obstacle]; }
  void take_away(int obstacle);
  void put_back(int obstacle);

  // It must cross zones, and as many others as may do so.
  int crossing_too_many() const;
  bool can_make_room();         // the planner would, as things are
  bool has_room() const;        // could be placed now
  bool has_room_quick() const;  // the same, where leaves don't matter cheaper

  // Holders of the reservations that stand.
  const std::vector<const Job*>& reservations() const { return reservations_; }
  const Capacity& capacity() const { return capacity_; }
  // Obstacles on the slot that are not away and touch these GPUs.
  std::vector<int> in_the_way(int slot, GpuSet gpus) const;
  // Those that are not away and take CPUs or memory that a rank on the slot lacks: all of them, if
  // it lacks any when the ones with these GPUs are gone.
  std::vector<int> in_the_way_of_host(int slot, GpuSet gpus) const;

 private:
  void find_reservations(const ClusterState& state, UnixTime now, const Job& job);
  void find_level(const ClusterState& state, UnixTime now, const Job& job,
                  const std::vector<JobId>& gone);
  Room room_without(const ClusterState& state, const std::vector<JobId>& gone) const;
  std::set<JobId> find_interruptible(const ClusterState& state) const;
  void add_obstacles(const ClusterState& state);
  void add_unless_harmless(Obstacle obstacle);
  void add(Obstacle obstacle);
  // What those obstacles on the slot take that touch none of the GPUs `block`.
  struct Cover {
    GpuSet gpus;
    HostParts excess;
    std::vector<int> all;  // on the slot, those that touch them, too
  };
  Cover cover_of(int slot, GpuSet block) const;
  void refresh(int slot);
  Demand demand_now() const;

  const Knobs& knobs_;
  const UnixTime now_;
  PlanIndex index_;     // of the real state
  ClusterState empty_;  // the same nodes, all open, nobody there
  Capacity capacity_;   // of `empty_`, less what is covered
  Demand demand_;
  Requester requester_;
  const Room* room_ = nullptr;
  Priority asked_ = Priority::low;
  int64_t units_ = 0;
  bool must_cross_ = false;
  std::vector<const Job*> reservations_;  // of others, that stand
  int crossing_ = 0;  // jobs that run across zones or will, less those thought away
  std::vector<Obstacle> obstacles_;
  std::vector<bool> is_away_;
  std::vector<std::vector<std::pair<int, GpuSet>>> on_slot_;  // obstacle, GPUs
};

}  // namespace hai
