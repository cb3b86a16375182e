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
         const Demand& demand, Priority level, const std::set<JobId>& asked)
      : capacity_(capacity), demand_(demand) {
    for (JobId id : state.live()) {
      const Job& job = *state.find(id);
      if (!is_legal_victim(job, level)) continue;
      costs_.emplace(id, asked.contains(id) ? 0 : suspend_cost(job, knobs, now));
      jobs_.emplace(id, &job);
      has_gangs_ = has_gangs_ || job.attempt->ranks.size() > 1;
    }
  }

  // Nodes to avoid are made free only if the others are not enough.
  std::optional<Preemption> run() {
    if (jobs_.empty()) return std::nullopt;
    if (!demand_.avoid.empty()) {
      if (auto found = cheapest(true)) return found;
    }
    return cheapest(false);
  }

 private:
  enum class Measure { per_node, per_freed_node };

  std::optional<Preemption> cheapest(bool avoid) const {
    std::optional<Preemption> best;
    int64_t best_cost = 0;
    for (const auto& slots : slot_sets(avoid)) {
      for (Measure measure : {Measure::per_node, Measure::per_freed_node}) {
        if (measure == Measure::per_freed_node && !has_gangs_) continue;
        std::set<JobId> victims = greedy(slots, measure);
        prune(victims);
        auto placement = place(with_gone(victims), demand_);
        if (!placement) continue;
        int64_t cost = 0;
        for (JobId victim : victims) cost += costs_.at(victim);
        if (best && best_cost <= cost) continue;
        best = Preemption{*placement, {victims.begin(), victims.end()}};
        best_cost = cost;
      }
    }
    return best;
  }

  // One set per zone, or all zones together for a gang that no zone can hold.
  std::vector<std::vector<int>> slot_sets(bool avoid) const {
    std::map<std::string, std::vector<int>> zones;
    for (int slot : eligible_slots(capacity_, demand_)) {
      const Node& node = *capacity_.slots()[slot].node;
      if (!capacity_.slots()[slot].usable) continue;
      if (avoid && std::ranges::find(demand_.avoid, node.id) != demand_.avoid.end()) continue;
      zones[demand_.may_cross_zones ? "" : node.facts.zone].push_back(slot);
    }
    std::vector<std::vector<int>> sets;
    for (auto& [zone, slots] : zones) sets.push_back(std::move(slots));
    return sets;
  }

  // The cheapest block of the node that legal victims alone stand on.
  std::optional<Option> option(int slot, const std::set<JobId>& chosen, Measure measure,
                               int64_t* cost) const {
    const Node& node = *capacity_.slots()[slot].node;
    const GpuSet held = capacity_.slots()[slot].held;
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
        reachable = reachable | without(occupant.gpus, held);
        if (chosen.contains(occupant.job)) continue;
        candidate.victims.push_back(occupant.job);
        sum += it->second / freed_by(occupant.job, measure);
      }
      if (!without(block, reachable).is_empty()) continue;
      if (best && *cost <= sum) continue;
      best = candidate;
      *cost = sum;
    }
    return best;
  }

  // Over how many of the nodes asked for the victim's lost work is spread.
  int64_t freed_by(JobId victim, Measure measure) const {
    if (measure == Measure::per_node) return 1;
    auto ranks = static_cast<int64_t>(jobs_.at(victim)->attempt->ranks.size());
    return std::min<int64_t>(ranks, demand_.nodes);
  }

  std::set<JobId> greedy(const std::vector<int>& slots, Measure measure) const {
    std::set<JobId> chosen;
    std::set<int> done;
    while (static_cast<int>(done.size()) < demand_.nodes) {
      std::optional<Option> best;
      int64_t best_cost = 0;
      for (int slot : slots) {
        if (done.contains(slot)) continue;
        int64_t cost = 0;
        std::optional<Option> candidate = option(slot, chosen, measure, &cost);
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
        trial.give(rank.place.node, rank.place.gpus);
      }
    }
    return trial;
  }

  const Capacity& capacity_;
  const Demand& demand_;
  std::map<JobId, int64_t> costs_;
  std::map<JobId, const Job*> jobs_;
  bool has_gangs_ = false;
};

}  // namespace

bool is_legal_victim(const Job& job, Priority level) {
  const Attempt& attempt = *job.attempt;
  bool leaves_anyway = attempt.end || (attempt.state == AttemptState::suspending &&
                                       (!attempt.suspended_for || job.held));
  return leaves_anyway || attempt.priority < level;
}

std::optional<Preemption> preempt(const ClusterState& state, const Capacity& capacity,
                                  const Knobs& knobs, UnixTime now, const Demand& demand,
                                  Priority level, const std::set<JobId>& asked) {
  return Search(state, capacity, knobs, now, demand, level, asked).run();
}

}  // namespace hai
