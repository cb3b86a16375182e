#include "server/plan/preempt.h"

#include <algorithm>
#include <map>

#include "server/plan/cost.h"

namespace hai {
namespace {

// One way to free a node for one rank: these jobs leave.
struct Option {
  int slot = 0;
  std::vector<JobId> victims;
};

class Search {
 public:
  Search(const ClusterState& state, const Capacity& capacity, const Knobs& knobs, UnixTime now,
         const Demand& demand, Priority level, const std::set<JobId>& taken)
      : capacity_(capacity), demand_(demand) {
    for (JobId id : state.live()) {
      const Job& job = *state.find(id);
      if (taken.contains(id) || !is_legal_victim(job, level)) continue;
      costs_.emplace(id, suspend_cost(job, knobs, now));
      jobs_.emplace(id, &job);
    }
  }

  std::optional<Preemption> run() {
    std::optional<Preemption> best;
    int64_t best_cost = 0;
    for (const auto& slots : slot_sets()) {
      std::set<JobId> victims = greedy(slots);
      prune(victims);
      auto placement = place(with_gone(victims), demand_);
      if (!placement) continue;
      int64_t cost = 0;
      for (JobId victim : victims) cost += costs_.at(victim);
      if (best && best_cost <= cost) continue;
      best = Preemption{*placement, {victims.begin(), victims.end()}};
      best_cost = cost;
    }
    return best;
  }

 private:
  // One set per zone, or all zones together for a gang that no zone can hold.
  std::vector<std::vector<int>> slot_sets() const {
    std::map<std::string, std::vector<int>> zones;
    for (int slot : eligible_slots(capacity_, demand_)) {
      const Node& node = *capacity_.slots()[slot].node;
      if (!capacity_.slots()[slot].usable) continue;
      zones[demand_.may_cross_zones ? "" : node.facts.zone].push_back(slot);
    }
    std::vector<std::vector<int>> sets;
    for (auto& [zone, slots] : zones) sets.push_back(std::move(slots));
    return sets;
  }

  // The cheapest block of the node that legal victims alone stand on.
  std::optional<Option> option(int slot, const std::set<JobId>& chosen, int64_t* cost) const {
    const Node& node = *capacity_.slots()[slot].node;
    int gpus = demand_.gpus == 0 ? node.facts.gpus : demand_.gpus;
    std::optional<Option> best;
    for (int start = 0; start + gpus <= node.facts.gpus; start += gpus) {
      GpuSet block{GpuSet::first(gpus).bits << start};
      GpuSet reachable = capacity_.slots()[slot].free;
      Option candidate{slot, {}};
      int64_t sum = 0;
      for (const Occupant& occupant : node.occupants) {
        if ((occupant.gpus & block).is_empty()) continue;
        auto it = costs_.find(occupant.job);
        if (it == costs_.end()) continue;  // Its GPUs stay out of reach.
        reachable = reachable | without(occupant.gpus, node.held_gpus());
        if (chosen.contains(occupant.job)) continue;
        candidate.victims.push_back(occupant.job);
        sum += it->second;
      }
      if (!without(block, reachable).is_empty()) continue;
      if (best && *cost <= sum) continue;
      best = candidate;
      *cost = sum;
    }
    return best;
  }

  std::set<JobId> greedy(const std::vector<int>& slots) const {
    std::set<JobId> chosen;
    std::set<int> done;
    while (static_cast<int>(done.size()) < demand_.nodes) {
      std::optional<Option> best;
      int64_t best_cost = 0;
      for (int slot : slots) {
        if (done.contains(slot)) continue;
        int64_t cost = 0;
        std::optional<Option> candidate = option(slot, chosen, &cost);
        if (!candidate) continue;
        if (candidate->victims.empty()) {
          done.insert(slot);
          if (static_cast<int>(done.size()) == demand_.nodes) return chosen;
          continue;
        }
        if (best && best_cost <= cost) continue;
        best = candidate;
        best_cost = cost;
      }
      if (!best) return chosen;
      chosen.insert(best->victims.begin(), best->victims.end());
      done.insert(best->slot);
    }
    return chosen;
  }

  // Whoever can stay, stays: dearest first.
  void prune(std::set<JobId>& victims) const {
    if (!place(with_gone(victims), demand_)) return;
    std::vector<JobId> order(victims.begin(), victims.end());
    std::ranges::stable_sort(order, std::greater(), [&](JobId id) { return costs_.at(id); });
    for (JobId victim : order) {
      victims.erase(victim);
      if (!place(with_gone(victims), demand_)) victims.insert(victim);
    }
  }

  Capacity with_gone(const std::set<JobId>& victims) const {
    Capacity trial = capacity_;
    for (JobId victim : victims) {
      for (const Rank& rank : jobs_.at(victim)->attempt->ranks) {
        const Node& node = *capacity_.slots()[capacity_.index_of(rank.place.node)].node;
        trial.give(rank.place.node, without(rank.place.gpus, node.held_gpus()));
      }
    }
    return trial;
  }

  const Capacity& capacity_;
  const Demand& demand_;
  std::map<JobId, int64_t> costs_;
  std::map<JobId, const Job*> jobs_;
};

}  // namespace

bool is_legal_victim(const Job& job, Priority level) {
  const Attempt& attempt = *job.attempt;
  if (attempt.state == AttemptState::suspending || attempt.end) return true;
  return attempt.priority < level;
}

std::optional<Preemption> preempt(const ClusterState& state, const Capacity& capacity,
                                  const Knobs& knobs, UnixTime now, const Demand& demand,
                                  Priority level, const std::set<JobId>& taken) {
  return Search(state, capacity, knobs, now, demand, level, taken).run();
}

}  // namespace hai
