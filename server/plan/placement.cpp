#include "server/plan/placement.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace hai {
namespace {

struct Candidate {
  int slot = 0;
  GpuSet gpus;
  int free_before = 0;
};

using Leaves = std::map<std::string, std::vector<Candidate>>;  // leaf → candidates in network order

// Fills fragmented nodes first, so that whole nodes stay whole.
void prefer_packed(std::vector<Candidate>& candidates) {
  std::ranges::stable_sort(candidates, {}, &Candidate::free_before);
}

// Best fit: the smallest leaf that suffices; else the largest leaves whole and the best-fitting
// remainder.
std::vector<Candidate> choose_leaves(Leaves leaves, int nodes, int* leaves_used) {
  std::vector<Candidate> chosen;
  *leaves_used = 0;
  while (nodes > 0) {
    auto best = leaves.end();
    for (auto it = leaves.begin(); it != leaves.end(); ++it) {
      if (it->second.empty()) continue;
      if (best == leaves.end()) {
        best = it;
        continue;
      }
      int size = static_cast<int>(it->second.size());
      int best_size = static_cast<int>(best->second.size());
      bool suffices = size >= nodes;
      bool best_suffices = best_size >= nodes;
      bool better = suffices != best_suffices ? suffices
                    : suffices                ? size < best_size
                                              : size > best_size;
      if (better) best = it;
    }
    if (best == leaves.end()) return {};
    std::vector<Candidate>& from = best->second;
    prefer_packed(from);
    int count = std::min(nodes, static_cast<int>(from.size()));
    chosen.insert(chosen.end(), from.begin(), from.begin() + count);
    nodes -= count;
    ++*leaves_used;
    leaves.erase(best);
  }
  return chosen;
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
    GpuSet gpus = fit(*slot.node, slot.free, demand.gpus);
    if (gpus.is_empty()) continue;
    zones[slot.node->facts.zone][slot.node->facts.leaf].push_back({index, gpus, slot.free.count()});
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
  std::optional<Placement> best;
  std::tuple<int, int> best_key;  // leaves used, free nodes of the zone
  for (const auto& [zone, leaves] : zones) {
    int leaves_used = 0;
    std::vector<Candidate> chosen = choose_leaves(leaves, demand.nodes, &leaves_used);
    if (chosen.empty()) continue;
    if (demand.max_leaves > 0 && leaves_used > demand.max_leaves) continue;
    std::tuple key(leaves_used, count_of(leaves));
    if (best && best_key <= key) continue;
    best = to_placement(capacity, std::move(chosen));
    best_key = key;
  }
  return best;
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
  int leaves_first = 0;
  int leaves_second = 0;
  std::vector<Candidate> chosen = choose_leaves(zones.at(by_size[0].second), first, &leaves_first);
  std::vector<Candidate> second = choose_leaves(zones.at(by_size[1].second), rest, &leaves_second);
  if (demand.max_leaves > 0 && leaves_first + leaves_second > demand.max_leaves)
    return std::nullopt;
  chosen.insert(chosen.end(), second.begin(), second.end());
  return to_placement(capacity, std::move(chosen));
}

std::optional<Placement> place(const Capacity& capacity, const Demand& demand, bool avoid) {
  std::map<std::string, Leaves> zones = free_by_zone(capacity, demand, avoid);
  if (auto placement = place_in_one_zone(capacity, demand, zones)) return placement;
  if (!demand.may_cross_zones) return std::nullopt;
  return place_across_zones(capacity, demand, zones);
}

}  // namespace

GpuSet fit(const Node& node, GpuSet free, int gpus) {
  if (gpus == 0 || gpus == node.facts.gpus) {
    return free == node.all_gpus() ? free : GpuSet{};
  }
  GpuSet best;
  int best_hole = GpuSet::kMax + 1;
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
    if (hole < best_hole) {
      best = block;
      best_hole = hole;
    }
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

std::optional<Placement> place(const Capacity& capacity, const Demand& demand) {
  if (!demand.avoid.empty()) {
    if (auto placement = place(capacity, demand, true)) return placement;
  }
  return place(capacity, demand, false);
}

}  // namespace hai
