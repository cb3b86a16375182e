#include "server/plan/placement.h"

#include <algorithm>
#include <tuple>

#include "common/check.h"

namespace hai {
namespace {

struct Candidate {
  int slot = 0;
  Fit fit;
  int free_before = 0;
};

// How well ranks would stand; less is better. A share breaks the smallest hole that it fits in, on
// whatever leaf that is, so that whole nodes stay whole.
struct Tightness {
  int holes = 0;
  int free = 0;
  int nodes = 0;  // nodes of the domains that could take a rank
  auto operator<=>(const Tightness&) const = default;
};

struct Choice {
  std::vector<Candidate> ranks;
  int leaves = 0;
  Tightness tightness;
};

class Placer {
 public:
  Placer(const Capacity& capacity, const Demand& demand, bool avoid)
      : capacity_(capacity),
        demand_(demand),
        size_(demand.size()),
        group_(*capacity.group(demand.group)) {
    if (!avoid) return;
    for (NodeId node : demand.avoid) {
      if (capacity.group(demand.group) == nullptr) break;
      const Slot* slot = find(node);
      if (slot != nullptr && best_fit(*slot, size_).fits) {
        avoided_.push_back(static_cast<int>(slot - capacity.slots().data()));
      }
    }
    // A node may be named twice, by its job and for its record; count() takes each off once.
    std::ranges::sort(avoided_);
    avoided_.erase(std::unique(avoided_.begin(), avoided_.end()), avoided_.end());
  }

  int count(int domain) const {
    const Domain& part = capacity_.domains()[domain];
    int count = capacity_.fit_count(domain, size_);
    for (int slot : avoided_) count -= slot >= part.first_slot && slot < part.end_slot;
    return count;
  }

  // The smallest part of the domain that holds `nodes` ranks, best fit at each level; where no part
  // suffices, the largest ones whole and the best-fitting remainder. At most count(domain).
  void fill(int domain, int nodes, Choice& choice) const {
    const Domain& part = capacity_.domains()[domain];
    if (part.is_leaf()) return fill_leaf(domain, nodes, choice);
    // One leaf that holds all, in whatever part, is better than two leaves of the tightest part.
    std::vector<int> leaves;
    add_leaves(domain, leaves);
    if (int best = tightest(leaves, nodes); best >= 0) return fill_leaf(best, nodes, choice);
    std::vector<int> left;
    for (int child = part.first_child; child < part.end_child; ++child) left.push_back(child);
    while (nodes > 0) {
      if (int best = tightest(left, nodes); best >= 0) return fill(best, nodes, choice);
      const auto largest = std::ranges::max_element(left, {}, [&](int c) { return count(c); });
      const int some = count(*largest);
      CHECK(some > 0);
      fill(*largest, some, choice);
      nodes -= some;
      left.erase(largest);
    }
  }

 private:
  void add_leaves(int domain, std::vector<int>& leaves) const {
    const Domain& part = capacity_.domains()[domain];
    if (part.is_leaf()) return leaves.push_back(domain);
    for (int child = part.first_child; child < part.end_child; ++child) add_leaves(child, leaves);
  }

  const Slot* find(NodeId node) const {
    for (int slot = group_.first_slot; slot < group_.end_slot; ++slot) {
      if (capacity_.slots()[slot].node->id == node) return &capacity_.slots()[slot];
    }
    return nullptr;
  }

  // Of the domains that hold so many ranks the one to break; -1 if none does.
  int tightest(const std::vector<int>& domains, int nodes) const {
    int best = -1;
    Tightness best_tightness;
    for (int domain : domains) {
      if (count(domain) < nodes) continue;
      const Tightness mine = tightness(domain, nodes);
      if (best >= 0 && best_tightness <= mine) continue;
      best = domain;
      best_tightness = mine;
    }
    return best;
  }

  Tightness tightness(int domain, int nodes) const {
    Tightness sum{.nodes = count(domain)};
    // Parts above leaves, and leaves for whole nodes of one size, differ only in how many fit.
    const bool is_whole = demand_.gpus == 0 || demand_.gpus == group_.gpus;
    if (!capacity_.domains()[domain].is_leaf() || (is_whole && group_.is_uniform)) return sum;
    if (nodes == 1 && avoided_.empty()) {
      const LeafFit& fit = capacity_.leaf_fit(domain, size_);
      return {fit.best_hole, fit.best_free, sum.nodes};
    }
    const std::vector<Candidate> candidates = candidates_of(domain);
    for (int i = 0; i < nodes; ++i) {
      sum.holes += candidates[i].fit.hole;
      sum.free += candidates[i].free_before;
    }
    return sum;
  }

  // Fragmented nodes first, so that whole nodes stay whole.
  std::vector<Candidate> candidates_of(int leaf) const {
    const Domain& part = capacity_.domains()[leaf];
    std::vector<Candidate> candidates;
    for (int index = part.first_slot; index < part.end_slot; ++index) {
      const Slot& slot = capacity_.slots()[index];
      if (slot.free.is_empty() && demand_.asks_gpus()) continue;
      if (std::ranges::find(avoided_, index) != avoided_.end()) continue;
      const Fit found = best_fit(slot, size_);
      if (found.fits) candidates.push_back({index, found, slot.free.count()});
    }
    std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
      return std::pair(candidate.fit.hole, candidate.free_before);
    });
    return candidates;
  }

  void fill_leaf(int leaf, int nodes, Choice& choice) const {
    const std::vector<Candidate> candidates = candidates_of(leaf);
    CHECK(static_cast<int>(candidates.size()) >= nodes);
    for (int i = 0; i < nodes; ++i) {
      choice.tightness.holes += candidates[i].fit.hole;
      choice.tightness.free += candidates[i].free_before;
      choice.ranks.push_back(candidates[i]);
    }
    choice.tightness.nodes += static_cast<int>(candidates.size());
    ++choice.leaves;
  }

  const Capacity& capacity_;
  const Demand& demand_;
  const RankSize size_;
  const NodeGroup& group_;
  std::vector<int> avoided_;  // slots
};

Placement to_placement(const Capacity& capacity, std::vector<Candidate> chosen) {
  std::ranges::sort(chosen, {}, &Candidate::slot);
  Placement placement;
  placement.reserve(chosen.size());
  for (const Candidate& candidate : chosen) {
    placement.push_back({capacity.slots()[candidate.slot].node->id, candidate.fit.gpus});
  }
  return placement;
}

std::optional<Placement> place_in_one_zone(const Capacity& capacity, const Demand& demand,
                                           const Placer& placer, const std::vector<int>& zones) {
  std::optional<Choice> best;
  std::tuple<int, Tightness, int> best_key;  // leaves used, how tight, nodes of the zone that fit
  for (int zone : zones) {
    const int count = placer.count(zone);
    if (count < demand.nodes) continue;
    Choice choice;
    placer.fill(zone, demand.nodes, choice);
    if (demand.max_leaves > 0 && choice.leaves > demand.max_leaves) continue;
    const std::tuple key(choice.leaves, choice.tightness, count);
    if (best && best_key <= key) continue;
    best = std::move(choice);
    best_key = key;
  }
  if (!best) return std::nullopt;
  return to_placement(capacity, std::move(best->ranks));
}

// Two zones, the fuller part in one: ranks are numbered zone by zone, so one neighbouring pair
// crosses.
std::optional<Placement> place_across_zones(const Capacity& capacity, const Demand& demand,
                                            const Placer& placer, const std::vector<int>& zones) {
  std::vector<std::pair<int, int>> by_size;  // −nodes that fit, zone: in the order of their names
  for (int zone : zones) by_size.emplace_back(-placer.count(zone), zone);
  std::ranges::sort(by_size);
  if (by_size.size() < 2) return std::nullopt;
  const int first = -by_size[0].first;
  const int rest = demand.nodes - first;
  if (first >= demand.nodes || -by_size[1].first < rest) return std::nullopt;
  Choice choice;
  placer.fill(by_size[0].second, first, choice);
  placer.fill(by_size[1].second, rest, choice);
  if (demand.max_leaves > 0 && choice.leaves > demand.max_leaves) return std::nullopt;
  return to_placement(capacity, std::move(choice.ranks));
}

std::optional<Placement> place(const Capacity& capacity, const Demand& demand, bool avoid) {
  const Placer placer(capacity, demand, avoid);
  const std::vector<int> zones = zones_of(capacity, demand);
  if (auto placement = place_in_one_zone(capacity, demand, placer, zones)) return placement;
  if (!demand.may_cross_zones) return std::nullopt;
  return place_across_zones(capacity, demand, placer, zones);
}

}  // namespace

Fit best_fit(const Node& node, GpuSet free, int gpus) {
  if (gpus == 0 || gpus == node.facts.gpus) {
    const bool is_whole = free == node.all_gpus() && !free.is_empty();
    return is_whole ? Fit{free, node.facts.gpus, true} : Fit{};
  }
  Fit best{.hole = GpuSet::kMax + 1};
  for (int start = 0; start + gpus <= node.facts.gpus; start += gpus) {
    GpuSet block{GpuSet::first(gpus).bits << start};
    if (!without(block, free).is_empty()) continue;
    // The hole this block would break: the largest aligned free block of twice, four times … the
    // size around it.
    int hole = gpus;
    for (int size = gpus * 2; size <= node.facts.gpus; size *= 2) {
      GpuSet around{GpuSet::first(size).bits << (start / size * size)};
      if (!without(around, free).is_empty()) break;
      hole = size;
    }
    if (hole < best.hole) best = {block, hole, true};
  }
  return best.fits ? best : Fit{};
}

Fit best_fit(const Slot& slot, const RankSize& size) {
  const NodeFacts& facts = slot.node->facts;
  Fit found;
  if (size.gpus == kNoGpus) {
    found = {.hole = slot.free.count(), .fits = slot.usable};
  } else {
    found = best_fit(*slot.node, slot.free, size.gpus);
  }
  if (!found.fits) return found;
  if (!size.takes(facts)) return {};
  if (slot.is_even && size.is_plain()) return found;
  const bool has_room =
      has_host(facts, size.gpus, size.ask) && host_need(facts, size).is_within(host_left(slot));
  return has_room ? found : Fit{};
}

std::vector<int> zones_of(const Capacity& capacity, const Demand& demand) {
  std::vector<int> zones;
  const NodeGroup* group = capacity.group(demand.group);
  if (group == nullptr) return zones;
  for (int zone = group->first_zone; zone < group->end_zone; ++zone) {
    if (demand.zone.empty() || capacity.domains()[zone].name == demand.zone) zones.push_back(zone);
  }
  return zones;
}

bool has_enough_nodes(const Capacity& capacity, const Demand& demand) {
  int first = 0;  // the two largest
  int second = 0;
  for (int zone : zones_of(capacity, demand)) {
    const int count = capacity.fit_count(zone, demand.size());
    if (count > first) {
      second = std::exchange(first, count);
    } else {
      second = std::max(second, count);
    }
  }
  return first >= demand.nodes || (demand.may_cross_zones && first + second >= demand.nodes);
}

bool crosses_zones(const ClusterState& state, NodeId first_rank, NodeId last_rank) {
  return state.find(first_rank)->facts.zone != state.find(last_rank)->facts.zone;
}

std::optional<Placement> place(const Capacity& capacity, const Demand& demand) {
  if (!has_enough_nodes(capacity, demand)) return std::nullopt;
  if (!demand.avoid.empty()) {
    if (auto placement = place(capacity, demand, true)) return placement;
  }
  return place(capacity, demand, false);
}

}  // namespace hai
