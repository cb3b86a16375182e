#include "server/plan/placement.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/check.h"

namespace hai {
namespace {

struct Candidate {
  int slot = 0;
  GpuSet gpus;
  int hole = 0;  // size of the free block its GPUs are broken out of
  int free_before = 0;
};

using Leaves = std::map<std::string, std::vector<Candidate>>;  // leaf → candidates, best first

// How well ranks would stand; less is better. A share breaks the smallest hole it fits in, wherever
// that is, before it breaks a whole node next door.
struct Tightness {
  int holes = 0;
  int free = 0;
  int leaf_nodes = 0;  // nodes of the leaves that could take a rank
  auto operator<=>(const Tightness&) const = default;

  void add(const Candidate& candidate) {
    holes += candidate.hole;
    free += candidate.free_before;
  }
};

struct Choice {
  std::vector<Candidate> ranks;
  int leaves = 0;
  Tightness tightness;
};

Tightness tightness_of(const std::vector<Candidate>& leaf, int ranks) {
  Tightness sum{.leaf_nodes = static_cast<int>(leaf.size())};
  for (int i = 0; i < ranks; ++i) sum.add(leaf[i]);
  return sum;
}

// Best fit: the tightest leaf that suffices; if none does, the one with most room.
Leaves::iterator best_leaf(Leaves& leaves, int nodes) {
  auto best = leaves.end();
  for (auto it = leaves.begin(); it != leaves.end(); ++it) {
    if (best == leaves.end()) {
      best = it;
      continue;
    }
    int size = static_cast<int>(it->second.size());
    int best_size = static_cast<int>(best->second.size());
    bool suffices = size >= nodes;
    bool best_suffices = best_size >= nodes;
    bool better = suffices != best_suffices ? suffices
                  : suffices ? tightness_of(it->second, nodes) < tightness_of(best->second, nodes)
                             : size > best_size;
    if (better) best = it;
  }
  return best;
}

// One leaf if it fits, else the largest leaves whole and the best-fitting remainder.
std::optional<Choice> choose_leaves(Leaves leaves, int nodes) {
  Choice choice;
  while (nodes > 0) {
    auto leaf = best_leaf(leaves, nodes);
    if (leaf == leaves.end()) return std::nullopt;
    int count = std::min(nodes, static_cast<int>(leaf->second.size()));
    for (int i = 0; i < count; ++i) {
      choice.tightness.add(leaf->second[i]);
      choice.ranks.push_back(leaf->second[i]);
    }
    choice.tightness.leaf_nodes += static_cast<int>(leaf->second.size());
    ++choice.leaves;
    nodes -= count;
    leaves.erase(leaf);
  }
  return choice;
}

Placement to_placement(const Capacity& capacity, std::vector<Candidate> chosen) {
  std::ranges::sort(chosen, {}, &Candidate::slot);
  Placement placement;
  for (const Candidate& candidate : chosen) {
    placement.push_back({capacity.slots()[candidate.slot].node->id, candidate.gpus});
  }
  return placement;
}

std::map<std::string, Leaves> free_by_zone(const Capacity& capacity, const Demand& demand,
                                           bool avoid) {
  std::map<std::string, Leaves> zones;
  for (int index : eligible_slots(capacity, demand)) {
    const Slot& slot = capacity.slots()[index];
    if (avoid && std::ranges::find(demand.avoid, slot.node->id) != demand.avoid.end()) continue;
    Fit found = best_fit(*slot.node, slot.free, demand.gpus);
    if (found.gpus.is_empty()) continue;
    zones[slot.node->facts.zone][slot.node->facts.leaf].push_back(
        {index, found.gpus, found.hole, slot.free.count()});
  }
  // Fills fragmented nodes first, so that whole nodes stay whole.
  for (auto& [zone, leaves] : zones) {
    for (auto& [leaf, candidates] : leaves) {
      std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
        return std::pair(candidate.hole, candidate.free_before);
      });
    }
  }
  return zones;
}

int count_of(const Leaves& leaves) {
  int count = 0;
  for (const auto& [name, candidates] : leaves) count += static_cast<int>(candidates.size());
  return count;
}

std::optional<Placement> place_in_one_zone(const Capacity& capacity, const Demand& demand,
                                           const std::map<std::string, Leaves>& zones) {
  std::optional<Choice> best;
  std::tuple<int, Tightness, int> best_key;  // leaves used, how tight, free nodes of the zone
  for (const auto& [zone, leaves] : zones) {
    std::optional<Choice> choice = choose_leaves(leaves, demand.nodes);
    if (!choice) continue;
    if (demand.max_leaves > 0 && choice->leaves > demand.max_leaves) continue;
    std::tuple key(choice->leaves, choice->tightness, count_of(leaves));
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
                                            const std::map<std::string, Leaves>& zones) {
  std::vector<std::pair<int, std::string>> by_size;
  for (const auto& [zone, leaves] : zones) by_size.emplace_back(-count_of(leaves), zone);
  std::ranges::sort(by_size);
  if (by_size.size() < 2) return std::nullopt;
  int first = -by_size[0].first;
  int rest = demand.nodes - first;
  if (first >= demand.nodes || -by_size[1].first < rest) return std::nullopt;
  std::optional<Choice> fuller = choose_leaves(zones.at(by_size[0].second), first);
  std::optional<Choice> other = choose_leaves(zones.at(by_size[1].second), rest);
  CHECK(fuller && other);
  if (demand.max_leaves > 0 && fuller->leaves + other->leaves > demand.max_leaves)
    return std::nullopt;
  fuller->ranks.insert(fuller->ranks.end(), other->ranks.begin(), other->ranks.end());
  return to_placement(capacity, std::move(fuller->ranks));
}

std::optional<Placement> place(const Capacity& capacity, const Demand& demand, bool avoid) {
  std::map<std::string, Leaves> zones = free_by_zone(capacity, demand, avoid);
  if (auto placement = place_in_one_zone(capacity, demand, zones)) return placement;
  if (!demand.may_cross_zones) return std::nullopt;
  return place_across_zones(capacity, demand, zones);
}

}  // namespace

Fit best_fit(const Node& node, GpuSet free, int gpus) {
  if (gpus == 0 || gpus == node.facts.gpus) {
    return free == node.all_gpus() ? Fit{free, node.facts.gpus} : Fit{};
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
    if (hole < best.hole) best = {block, hole};
  }
  return best;
}

std::vector<int> eligible_slots(const Capacity& capacity, const Demand& demand) {
  std::vector<int> slots;
  for (int index : capacity.group(demand.group)) {
    const Node& node = *capacity.slots()[index].node;
    if (!demand.zone.empty() && node.facts.zone != demand.zone) continue;
    if (node.facts.gpus == 0 || demand.gpus > node.facts.gpus) continue;
    slots.push_back(index);
  }
  return slots;
}

bool one_zone_could_hold(const Capacity& capacity, const Demand& demand) {
  std::map<std::string, int> nodes;
  for (int index : eligible_slots(capacity, demand)) {
    if (++nodes[capacity.slots()[index].node->facts.zone] >= demand.nodes) return true;
  }
  return false;
}

bool crosses_zones(const ClusterState& state, NodeId first_rank, NodeId last_rank) {
  return state.find(first_rank)->facts.zone != state.find(last_rank)->facts.zone;
}

std::optional<Placement> place(const Capacity& capacity, const Demand& demand) {
  if (!demand.avoid.empty()) {
    if (auto placement = place(capacity, demand, true)) return placement;
  }
  return place(capacity, demand, false);
}

}  // namespace hai
