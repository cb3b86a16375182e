#include "server/plan/preempt.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "common/check.h"
#include "server/plan/cost.h"

namespace hai {
namespace {

// So many legal victims are tried set by set.
constexpr size_t kExhaustiveMax = 8;
constexpr int64_t kNoLimit = int64_t{1} << 60;

struct Victim {
  const Running* running = nullptr;
  int64_t cost = 0;
  int64_t of_own_level = 0;  // what of its price counts against the budget, GPU-microseconds
  bool is_chosen = false;
};

// One way to free a block of a node with its CPUs and memory: these leave.
struct Option {
  int64_t cost = 0;
  int slot = 0;
  std::vector<JobId> victims;
};

enum class VictimMeasure { per_node, per_freed_node };

class VictimSearch {
 public:
  VictimSearch(const PreemptContext& context, const Demand& demand, const Requester& requester)
      : context_(context),
        capacity_(context.capacity),
        demand_(demand),
        reach_(VictimIndex::reach(requester)),
        budget_(budget_of(context, demand, requester)) {
    find_victims(requester);
    find_slots();
  }

  bool fails_for_all() const { return !own_in_the_way_; }

  // Nodes to avoid are made free only if the others are not enough.
  std::optional<Preemption> run() {
    if (victims_.empty() || most_slots_ < static_cast<size_t>(demand_.nodes)) return std::nullopt;
    if (victims_.size() <= kExhaustiveMax) return exhaustive();
    if (!demand_.avoid.empty()) {
      if (auto found = cheapest(true)) return found;
    }
    return cheapest(false);
  }

 private:
  void find_victims(const Requester& requester) {
    const auto group = static_cast<int>(capacity_.group(demand_.group) - capacity_.groups().data());
    context_.running.for_each_below(requester.level, [&](const Running& running) {
      if (running.group != group) return;
      const int64_t lost = lost_by(running);
      victims_.emplace(running.id, Victim{&running, cost_of(running, lost), 0});
    });
    if (!requester.takes_turns) return;
    const std::vector<OpenVictim>& open = context_.open.of(requester.level);
    if (victims_.empty() && is_too_dear(open, group)) return;
    for (const OpenVictim& victim : open) {
      if (victim.price_per_gpu > budget_) break;
      const Running& running = *victim.running;
      if (running.protection > reach_ || running.group != group) continue;
      const int64_t price = running.is_asked ? 0 : victim.price_per_gpu * running.gpus;
      if (price > budget_) continue;
      if (context_.running.may_interrupt(context_.knobs, requester, context_.ledger, running)) {
        victims_.emplace(running.id, Victim{&running, cost_of(running, victim.lost), price});
      } else if (running.job->user == requester.job->user) {
        own_in_the_way_ = true;
      }
    }
  }

  // Whoever frees the GPUs needed costs at least what the cheapest of them cost.
  bool is_too_dear(const std::vector<OpenVictim>& open, int group) const {
    int64_t needed = needed_gpus();
    int64_t least = 0;
    for (const OpenVictim& victim : open) {
      if (needed <= 0 || least > budget_) break;
      if (victim.running->protection > reach_ || victim.running->group != group) continue;
      const int64_t taken = std::min<int64_t>(needed, victim.running->gpus);
      if (!victim.running->is_asked) least += victim.price_per_gpu * taken;
      needed -= taken;
    }
    return needed > 0 || least > budget_;
  }

  // GPUs that have to become free, at least.
  int64_t needed_gpus() const {
    if (demand_.gpus == 0)
      return capacity_.least_used(*capacity_.group(demand_.group), demand_.nodes);
    int free_nodes = 0;
    for (int zone : zones_of(capacity_, demand_)) {
      const int count = capacity_.fit_count(zone, demand_.size());
      free_nodes = demand_.may_cross_zones ? free_nodes + count : std::max(free_nodes, count);
    }
    return std::max(0, demand_.nodes - free_nodes);
  }

  // Slots where a rank fits, or could if victims left: one set per zone, or per pair of zones for a
  // gang that no zone can hold.
  void find_slots() {
    if (victims_.empty()) return;
    std::map<int, int> reachable;  // slot → GPUs of victims
    for (const auto& [id, victim] : victims_) {
      for (const Rank& rank : victim.running->job->attempt->holding_ranks()) {
        reachable[capacity_.index_of(rank.place.node)] += std::popcount(rank.place.gpus.bits);
      }
    }
    for (int zone : zones_of(capacity_, demand_)) {
      const Domain& part = capacity_.domains()[zone];
      std::vector<int> slots;
      for (auto it = reachable.lower_bound(part.first_slot);
           it != reachable.end() && it->first < part.end_slot; ++it) {
        const Slot& slot = capacity_.slots()[it->first];
        const int gpus = demand_.gpus == 0 ? slot.node->facts.gpus : demand_.gpus;
        if (it->second + slot.free.count() >= gpus &&
            context_.running.is_reachable(capacity_, it->first, demand_.size(), reach_)) {
          slots.push_back(it->first);
        }
      }
      context_.running.add_free_slots(capacity_, zone, demand_.size(), slots);
      std::ranges::sort(slots);
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      sets_.push_back(std::move(slots));
    }
    if (demand_.may_cross_zones) join_pairs();
    for (const std::vector<int>& slots : sets_) most_slots_ = std::max(most_slots_, slots.size());
  }

  // A gang that no zone can hold stands in two: every pair of them.
  void join_pairs() {
    std::vector<std::vector<int>> pairs;
    for (size_t a = 0; a < sets_.size(); ++a) {
      for (size_t b = a + 1; b < sets_.size(); ++b) {
        pairs.push_back(sets_[a]);
        pairs.back().insert(pairs.back().end(), sets_[b].begin(), sets_[b].end());
      }
    }
    if (!pairs.empty()) sets_ = std::move(pairs);
  }

  // Of its own level a job may interrupt others at the price of what it has waited itself: else
  // short jobs that could have waited for a minute would cost long ones more than they gain.
  static int64_t budget_of(const PreemptContext& context, const Demand& demand,
                           const Requester& requester) {
    const NodeGroup& group = *context.capacity.group(demand.group);
    const int64_t gpus = demand.nodes * (demand.gpus == 0 ? group.gpus : demand.gpus);
    // Who chooses by something else does not know what it costs.
    if (context.choice != VictimChoice::least_lost_work) return kNoLimit;
    return gpus * (requester.waited.count() / 100) * context.knobs.interrupt_percent;
  }

  // GPU-microseconds.
  int64_t lost_by(const Running& running) const {
    if (running.is_asked || running.is_leaving) return 0;
    return running.gpus * suspend_cost_per_gpu(*running.job, context_.knobs, context_.now).count();
  }

  int64_t cost_of(const Running& running, int64_t lost) const {
    if (running.is_asked || running.is_leaving || running.gpus == 0) return 0;
    switch (context_.choice) {
      case VictimChoice::least_lost_work:
        return lost;
      case VictimChoice::youngest:
        return 1 + std::max<int64_t>(
                       0, Duration(context_.now - running.job->attempt->placed_at).count());
      case VictimChoice::lowest_priority:
        return 1 + (static_cast<int64_t>(running.level) << 32) + running.job->id.value;
    }
    return 0;
  }

  // Every set, the cheapest first found wins; ties by the smaller set, then by ids.
  std::optional<Preemption> exhaustive() {
    std::vector<JobId> ids;
    for (const auto& [id, victim] : victims_) ids.push_back(id);
    if (!placement_without(ids)) return std::nullopt;
    std::optional<Preemption> best;
    int best_count = 0;
    bool best_avoids = false;
    for (unsigned set = 0; set < 1U << ids.size(); ++set) {
      int64_t cost = 0;
      int64_t of_own_level = 0;
      for (size_t i = 0; i < ids.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        cost += victims_.at(ids[i]).cost;
        of_own_level += victims_.at(ids[i]).of_own_level;
      }
      if (of_own_level > budget_) continue;
      const int count = std::popcount(set);
      if (best && best_avoids && std::pair(best->cost, best_count) <= std::pair(cost, count)) {
        continue;
      }
      std::vector<JobId> chosen;
      for (size_t i = 0; i < ids.size(); ++i) {
        if ((set >> i & 1) != 0) chosen.push_back(ids[i]);
      }
      auto placement = placement_without(chosen);
      if (!placement) continue;
      const bool avoids = !uses_avoided(*placement);
      const auto key = std::tuple(!avoids, cost, count);
      if (best && std::tuple(!best_avoids, best->cost, best_count) <= key) continue;
      best = Preemption{std::move(*placement), std::move(chosen), cost};
      best_count = count;
      best_avoids = avoids;
    }
    return best;
  }

  bool uses_avoided(const Placement& placement) const {
    return std::ranges::any_of(placement, [&](const RankPlacement& place) {
      return std::ranges::find(demand_.avoid, place.node) != demand_.avoid.end();
    });
  }

  std::optional<Preemption> cheapest(bool avoid) {
    std::optional<Preemption> best;
    const bool has_gangs =
        std::ranges::any_of(victims_, [](const auto& item) { return places_of(item.second) > 1; });
    for (const std::vector<int>& all : sets_) {
      std::vector<int> slots;
      for (int slot : all) {
        if (!avoid || !is_avoided(slot)) slots.push_back(slot);
      }
      for (VictimMeasure measure : {VictimMeasure::per_node, VictimMeasure::per_freed_node}) {
        if (measure == VictimMeasure::per_freed_node && !has_gangs) continue;
        if (auto found = greedy(slots, measure); found && (!best || found->cost < best->cost)) {
          best = std::move(found);
        }
      }
    }
    return best;
  }

  bool is_avoided(int slot) const {
    const NodeId node = capacity_.slots()[slot].node->id;
    return std::ranges::find(demand_.avoid, node) != demand_.avoid.end();
  }

  // The cheapest block of the node that free GPUs and legal victims make up.
  std::optional<Option> option(int index, VictimMeasure measure) const {
    const Slot& slot = capacity_.slots()[index];
    const int count = slot.node->facts.gpus;
    const int gpus = demand_.gpus == 0 ? count : demand_.gpus;
    std::optional<Option> best;
    for (int start = 0; start + gpus <= count; start += gpus) {
      const GpuSet block{GpuSet::first(gpus).bits << start};
      GpuSet reachable = slot.free;
      Option candidate{.slot = index};
      for (const Occupant& occupant : slot.node->occupants) {
        if ((occupant.gpus & block).is_empty()) continue;
        auto it = victims_.find(occupant.job);
        if (it == victims_.end()) continue;  // Its GPUs stay out of reach.
        reachable = reachable | without(occupant.gpus, slot.held);
        if (it->second.is_chosen) continue;
        candidate.victims.push_back(occupant.job);
        candidate.cost += it->second.cost / freed_by(it->second, measure);
      }
      if (!without(block, reachable).is_empty()) continue;
      if (!add_for_host(slot, measure, candidate)) continue;
      if (!best || candidate.cost < best->cost) best = std::move(candidate);
    }
    return best;
  }

  // Victims that free no GPU of the block, but CPUs or memory that it lacks: the cheapest first, of
  // whom those without GPUs cost nothing. False if there are not enough.
  bool add_for_host(const Slot& slot, VictimMeasure measure, Option& candidate) const {
    if (slot.is_even && demand_.size().is_plain()) return true;
    const NodeFacts& facts = slot.node->facts;
    if (!has_host(facts, demand_.gpus, demand_.ask)) return false;
    const HostParts needed = host_need(facts, demand_.size());
    HostParts left = host_left(slot);
    std::vector<std::pair<int64_t, const Occupant*>> others;
    for (const Occupant& occupant : slot.node->occupants) {
      auto it = victims_.find(occupant.job);
      if (it == victims_.end()) continue;
      const auto& leaving = candidate.victims;
      if (it->second.is_chosen || std::ranges::find(leaving, occupant.job) != leaving.end()) {
        left += host_gain(slot, occupant);
      } else {
        others.emplace_back(it->second.cost / freed_by(it->second, measure), &occupant);
      }
    }
    std::ranges::stable_sort(others, {}, &std::pair<int64_t, const Occupant*>::first);
    for (const auto& [cost, occupant] : others) {
      if (needed.is_within(left)) return true;
      left += host_gain(slot, *occupant);
      candidate.victims.push_back(occupant->job);
      candidate.cost += cost;
    }
    return needed.is_within(left);
  }

  static int64_t places_of(const Victim& victim) {
    return std::ranges::distance(victim.running->job->attempt->holding_ranks());
  }

  // Over how many of the nodes asked for the victim's lost work is spread.
  int64_t freed_by(const Victim& victim, VictimMeasure measure) const {
    if (measure == VictimMeasure::per_node) return 1;
    return std::min<int64_t>(places_of(victim), demand_.nodes);
  }

  struct Entry {
    int64_t cost = 0;
    int slot = 0;
    int version = 0;
    auto operator<=>(const Entry&) const = default;
  };

  // Takes the cheapest node again and again. A gang that leaves makes its other nodes cheaper: they
  // get fresh entries, the old ones are stale.
  std::optional<Preemption> greedy(const std::vector<int>& slots, VictimMeasure measure) {
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::map<int, int> versions;
    for (int slot : slots) {
      if (auto found = option(slot, measure)) {
        queue.push({found->cost, slot, 0});
        versions.emplace(slot, 0);
      }
    }
    std::vector<JobId> chosen;
    int done = 0;
    while (done < demand_.nodes && !queue.empty()) {
      const Entry entry = queue.top();
      queue.pop();
      auto version = versions.find(entry.slot);
      if (version == versions.end() || version->second != entry.version) continue;
      const std::optional<Option> found = option(entry.slot, measure);
      CHECK(found.has_value());
      versions.erase(version);
      ++done;
      for (JobId victim : found->victims) {
        victims_.at(victim).is_chosen = true;
        chosen.push_back(victim);
      }
      for (JobId victim : found->victims) {
        for (const Rank& rank : victims_.at(victim).running->job->attempt->holding_ranks()) {
          const int slot = capacity_.index_of(rank.place.node);
          auto other = versions.find(slot);
          if (other == versions.end()) continue;
          queue.push({option(slot, measure)->cost, slot, ++other->second});
        }
      }
    }
    for (JobId victim : chosen) victims_.at(victim).is_chosen = false;
    return without_needless(std::move(chosen));
  }

  // Whoever can stay, stays: dearest first.
  std::optional<Preemption> without_needless(std::vector<JobId> chosen) {
    const Capacity::Mark mark = capacity_.mark();
    for (JobId victim : chosen) give(victim);
    Preemption found;
    if (auto placement = place(capacity_, demand_)) {
      std::ranges::sort(chosen, [&](JobId a, JobId b) {
        return std::pair(-victims_.at(a).cost, a) < std::pair(-victims_.at(b).cost, b);
      });
      for (JobId victim : chosen) {
        const Capacity::Mark before = capacity_.mark();
        ungive(victim);
        const bool is_needless = demand_.max_leaves > 0 ? place(capacity_, demand_).has_value()
                                                        : has_enough_nodes(capacity_, demand_);
        if (is_needless) continue;
        capacity_.undo_to(before);
        found.victims.push_back(victim);
        found.cost += victims_.at(victim).cost;
      }
      found.placement = *place(capacity_, demand_);
    }
    capacity_.undo_to(mark);
    int64_t of_own_level = 0;
    for (JobId victim : found.victims) of_own_level += victims_.at(victim).of_own_level;
    if (found.placement.empty() || of_own_level > budget_) return std::nullopt;
    std::ranges::sort(found.victims);
    return found;
  }

  std::optional<Placement> placement_without(const std::vector<JobId>& chosen) {
    const Capacity::Mark mark = capacity_.mark();
    for (JobId victim : chosen) give(victim);
    auto placement = place(capacity_, demand_);
    capacity_.undo_to(mark);
    return placement;
  }

  HostAsk ask_of(JobId victim) const { return host_ask(*victims_.at(victim).running->job->spec); }
  void give(JobId victim) {
    for (const Rank& rank : victims_.at(victim).running->job->attempt->holding_ranks()) {
      capacity_.give(rank.place.node, rank.place.gpus, ask_of(victim));
    }
  }
  void ungive(JobId victim) {
    for (const Rank& rank : victims_.at(victim).running->job->attempt->holding_ranks()) {
      capacity_.ungive(rank.place.node, rank.place.gpus, ask_of(victim));
    }
  }

  const PreemptContext& context_;
  Capacity& capacity_;
  const Demand& demand_;
  const int reach_;
  const int64_t budget_;
  std::vector<std::vector<int>> sets_;  // reachable slots per zone, or pair of zones
  size_t most_slots_ = 0;
  bool own_in_the_way_ = false;
  std::map<JobId, Victim> victims_;
};

}  // namespace

const std::vector<OpenVictim>& OpenLists::of(Priority level) {
  auto it = lists_.find(level);
  if (it == lists_.end()) it = lists_.emplace(level, running_.open_of(level, knobs_, now_)).first;
  return it->second;
}

std::optional<Preemption> preempt(const PreemptContext& context, const Demand& demand,
                                  const Requester& requester, bool* fails_for_all) {
  if (fails_for_all != nullptr) *fails_for_all = true;
  if (!demand.asks_gpus()) return std::nullopt;  // It interrupts nobody.
  const int needed = context.running.needed_reach(context.capacity, demand);
  if (needed > VictimIndex::reach(requester)) return std::nullopt;
  VictimSearch search(context, demand, requester);
  auto found = search.run();
  if (fails_for_all != nullptr) *fails_for_all = search.fails_for_all();
  return found;
}

}  // namespace hai
