#include "server/plan/capacity.h"

#include <algorithm>
#include <tuple>

#include "common/check.h"
#include "server/plan/placement.h"

namespace hai {
namespace {

// The part of a leaf's name for one level below the zone; empty beyond the last.
std::string_view level_of(std::string_view leaf, size_t depth) {
  for (; depth > 0; --depth) {
    const size_t slash = leaf.find('/');
    if (slash == std::string_view::npos) return {};
    leaf.remove_prefix(slash + 1);
  }
  return leaf.substr(0, leaf.find('/'));
}

size_t depth_of(std::string_view leaf) { return 1 + std::ranges::count(leaf, '/'); }

// Numbers at the end of a name order by value: shorter names first.
std::weak_ordering by_size_then_text(std::string_view a, std::string_view b) {
  return std::tuple(a.size(), a) <=> std::tuple(b.size(), b);
}

std::weak_ordering leaf_order(std::string_view a, std::string_view b) {
  const size_t depth = std::max(depth_of(a), depth_of(b));
  for (size_t level = 0; level < depth; ++level) {
    const auto order = by_size_then_text(level_of(a, level), level_of(b, level));
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

}  // namespace

bool network_order(const Node& a, const Node& b) {
  if (a.facts.zone != b.facts.zone) return a.facts.zone < b.facts.zone;
  if (auto order = leaf_order(a.facts.leaf, b.facts.leaf); order != 0) return order < 0;
  return by_size_then_text(a.facts.name, b.facts.name) < 0;
}

Slot Capacity::slot_of(const Node& node) {
  Slot slot{
      .node = &node, .all = node.all_gpus(), .held = node.held_gpus(), .usable = node.takes_jobs()};
  if (slot.usable) slot.free = node.free_gpus();
  return slot;
}

void Capacity::rebuild(const ClusterState& state) {
  *this = Capacity();
  slots_.reserve(state.nodes().size());
  for (const auto& [id, node] : state.nodes()) {
    if (!node.removed_at) slots_.push_back(slot_of(node));
  }
  std::ranges::sort(slots_, [](const Slot& a, const Slot& b) {
    if (a.node->facts.group != b.node->facts.group) {
      return a.node->facts.group < b.node->facts.group;
    }
    return network_order(*a.node, *b.node);
  });
  const int count = static_cast<int>(slots_.size());
  if (count > 0) index_.resize(static_cast<size_t>(state.nodes().rbegin()->first.value) + 1, -1);
  for (int first = 0; first < count;) {
    const std::string& name = slots_[first].node->facts.group;
    NodeGroup group{.first_slot = first, .first_zone = static_cast<int>(domains_.size())};
    group.is_uniform = true;
    int end = first;
    for (; end < count && slots_[end].node->facts.group == name; ++end) {
      index_[static_cast<size_t>(slots_[end].node->id.value)] = end;
      const int gpus = slots_[end].node->facts.gpus;
      group.is_uniform = group.is_uniform && (end == first || gpus == group.gpus);
      group.gpus = std::max(group.gpus, gpus);
      if (end == first || slots_[end].node->facts.zone != slots_[end - 1].node->facts.zone) {
        domains_.push_back({.name = slots_[end].node->facts.zone, .first_slot = end});
      }
      domains_.back().end_slot = end + 1;
    }
    group.end_slot = end;
    group.end_zone = static_cast<int>(domains_.size());
    for (int zone = group.first_zone; zone < group.end_zone; ++zone) {
      for (int slot = domains_[zone].first_slot; slot < domains_[zone].end_slot; ++slot) {
        slots_[slot].zone = zone;
      }
      build_domain(zone, 0);
    }
    const int index = static_cast<int>(groups_.size());
    for (int slot = first; slot < end; ++slot) slots_[slot].group = index;
    group_index_.emplace(name, index);
    groups_.push_back(std::move(group));
    for (int slot = first; slot < end; ++slot) count_used(slots_[slot], 1);
    first = end;
  }
}

void Capacity::count_used(const Slot& slot, int nodes) {
  if (!slot.usable) return;
  std::map<int, int>& used = groups_[slot.group].used;
  int& count = used[slot.all.count() - slot.free.count()];
  count += nodes;
  if (count == 0) used.erase(slot.all.count() - slot.free.count());
}

int64_t Capacity::least_used(const NodeGroup& group, int nodes) const {
  int64_t sum = 0;
  for (const auto& [gpus, count] : group.used) {
    const int some = std::min(nodes, count);
    sum += static_cast<int64_t>(some) * gpus;
    nodes -= some;
    if (nodes == 0) break;
  }
  return sum;
}

// Splits a domain by the next level of its leaves' names. All its children stand side by side.
void Capacity::build_domain(int domain, size_t depth) {
  const auto [first, end] = std::pair(domains_[domain].first_slot, domains_[domain].end_slot);
  const int first_child = static_cast<int>(domains_.size());
  for (int slot = first; slot < end; ++slot) {
    const std::string_view name = level_of(slots_[slot].node->facts.leaf, depth);
    if (slot == first || name != domains_.back().name) {
      domains_.push_back({.name = std::string(name), .first_slot = slot});
    }
    domains_.back().end_slot = slot + 1;
  }
  const int end_child = static_cast<int>(domains_.size());
  domains_[domain].first_child = first_child;
  domains_[domain].end_child = end_child;
  for (int child = first_child; child < end_child; ++child) {
    size_t deepest = 0;
    for (int slot = domains_[child].first_slot; slot < domains_[child].end_slot; ++slot) {
      slots_[slot].leaf = child;
      deepest = std::max(deepest, depth_of(slots_[slot].node->facts.leaf));
    }
    if (deepest > depth + 1) build_domain(child, depth + 1);
  }
}

void Capacity::refresh(const Node& node) {
  CHECK(journal_.empty());
  const int index = index_of(node.id);
  const Slot fresh = slot_of(node);
  count_used(slots_[index], -1);
  slots_[index].usable = fresh.usable;
  slots_[index].all = fresh.all;
  count_used(slots_[index], 1);
  set(index, fresh.free, fresh.held);
  journal_.clear();
}

const NodeGroup* Capacity::group(const std::string& name) const {
  auto it = group_index_.find(name);
  return it == group_index_.end() ? nullptr : &groups_[it->second];
}

int Capacity::size_index(int gpus) const {
  const auto it = std::ranges::find(sizes_, gpus);
  if (it != sizes_.end()) return static_cast<int>(it - sizes_.begin());
  sizes_.push_back(gpus);
  fits_.emplace_back(domains_.size());
  return static_cast<int>(sizes_.size()) - 1;
}

const LeafFit& Capacity::leaf_fit(int leaf, int gpus) const {
  LeafFit& fit = fits_[size_index(gpus)][leaf];
  if (fit.count >= 0) return fit;
  fit = {.count = 0};
  for (int index = domains_[leaf].first_slot; index < domains_[leaf].end_slot; ++index) {
    const Slot& slot = slots_[index];
    if (slot.free.is_empty()) continue;
    const Fit found = best_fit(*slot.node, slot.free, gpus);
    if (found.gpus.is_empty()) continue;
    const std::pair best(fit.best_hole, fit.best_free);
    const std::pair mine(found.hole, slot.free.count());
    if (fit.count == 0 || mine < best) std::tie(fit.best_hole, fit.best_free) = mine;
    ++fit.count;
  }
  return fit;
}

int Capacity::fit_count(int domain, int gpus) const {
  if (domains_[domain].is_leaf()) return leaf_fit(domain, gpus).count;
  int count = 0;
  for (int child = domains_[domain].first_child; child < domains_[domain].end_child; ++child) {
    count += fit_count(child, gpus);
  }
  return count;
}

int Capacity::hardware_in_largest_zone(const NodeGroup& group, int gpus,
                                       const std::string& zone) const {
  const auto key = std::tuple(&group, gpus, zone);
  if (auto it = hardware_.find(key); it != hardware_.end()) return it->second;
  int most = 0;
  for (int index = group.first_zone; index < group.end_zone; ++index) {
    if (!zone.empty() && domains_[index].name != zone) continue;
    int count = 0;
    for (int slot = domains_[index].first_slot; slot < domains_[index].end_slot; ++slot) {
      const int has = slots_[slot].node->facts.gpus;
      count += has > 0 && has >= gpus;
    }
    most = std::max(most, count);
  }
  hardware_.emplace(key, most);
  return most;
}

void Capacity::set(int slot, GpuSet free, GpuSet held) {
  Slot& changed = slots_[slot];
  if (changed.free == free && changed.held == held) return;
  journal_.push_back({slot, changed.free, changed.held});
  count_used(changed, -1);
  changed.free = free;
  changed.held = held;
  count_used(changed, 1);
  for (std::vector<LeafFit>& fits : fits_) fits[changed.leaf].count = -1;
}

void Capacity::undo_to(Mark mark, std::vector<int>* touched) {
  while (journal_.size() > mark) {
    const Change change = journal_.back();
    count_used(slots_[change.slot], -1);
    slots_[change.slot].free = change.free;
    slots_[change.slot].held = change.held;
    count_used(slots_[change.slot], 1);
    for (std::vector<LeafFit>& fits : fits_) fits[slots_[change.slot].leaf].count = -1;
    if (touched != nullptr) touched->push_back(change.slot);
    journal_.pop_back();
  }
}

void Capacity::take(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    set(index, without(slots_[index].free, place.gpus), slots_[index].held);
  }
}

void Capacity::hold(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    set(index, without(slots_[index].free, place.gpus), slots_[index].held | place.gpus);
  }
}

void Capacity::unhold(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    const Slot& slot = slots_[index];
    GpuSet free = slot.free;
    if (slot.usable) free = free | without(place.gpus, slot.node->used_gpus());
    set(index, free, without(slot.held, place.gpus));
  }
}

void Capacity::give(NodeId node, GpuSet gpus) {
  const int index = index_of(node);
  const Slot& slot = slots_[index];
  if (slot.usable) set(index, slot.free | without(gpus, slot.held), slot.held);
}

void Capacity::ungive(NodeId node, GpuSet gpus) {
  const int index = index_of(node);
  set(index, without(slots_[index].free, gpus), slots_[index].held);
}

}  // namespace hai
