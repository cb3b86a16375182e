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

// The load of the slot with one rank more, or less.
HostLoad with_rank(const Slot& slot, GpuSet gpus, HostAsk ask, int sign) {
  HostLoad host = slot.host;
  const HostParts excess = host_excess(slot.node->facts, gpus.count(), ask);
  if (excess.is_zero()) return host;
  if (sign > 0) {
    host.excess += excess;
    host.over += positive(excess);
  } else {
    host.excess -= excess;
    host.over -= positive(excess);
  }
  return host;
}

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

std::strong_ordering RankSize::operator<=>(const RankSize& other) const {
  if (const auto order = std::tie(gpus, ask) <=> std::tie(other.gpus, other.ask); order != 0) {
    return order;
  }
  if (filter == other.filter) return std::strong_ordering::equal;
  if (filter == nullptr || other.filter == nullptr) {
    return (filter != nullptr) <=> (other.filter != nullptr);
  }
  return *filter <=> *other.filter;
}

HostParts host_left(const Slot& slot) {
  const NodeFacts& facts = slot.node->facts;
  if (!slot.usable) return {};
  const HostParts whole =
      facts.gpus > 0 ? host_of_gpus(facts, slot.free.count()) : host_total(facts);
  const bool lends = slot.held.is_empty() && slot.host.held_over.is_zero();
  return whole - (lends ? slot.host.excess : slot.host.over + slot.host.held_over);
}

HostParts host_gain(const Slot& slot, const Occupant& occupant) {
  const NodeFacts& facts = slot.node->facts;
  const GpuSet freed = without(occupant.gpus, slot.held | slot.free);
  const HostParts excess = host_excess(facts, occupant.gpus.count(), occupant.ask);
  const bool lends = slot.held.is_empty() && slot.host.held_over.is_zero();
  return host_of_gpus(facts, freed.count()) + (lends ? excess : positive(excess));
}

HostParts host_need(const NodeFacts& facts, const RankSize& size) {
  if (size.gpus == kNoGpus) return host_use(facts, 0, size.ask);
  return host_use(facts, size.gpus == 0 ? facts.gpus : size.gpus, size.ask);
}

bool network_order(const Node& a, const Node& b) {
  if (a.facts.zone != b.facts.zone) return a.facts.zone < b.facts.zone;
  if (auto order = leaf_order(a.facts.leaf, b.facts.leaf); order != 0) return order < 0;
  return by_size_then_text(a.facts.name, b.facts.name) < 0;
}

Slot Capacity::slot_of(const Node& node) {
  Slot slot{
      .node = &node, .all = node.all_gpus(), .held = node.held_gpus(), .usable = node.takes_jobs()};
  if (slot.usable) slot.free = node.free_gpus();
  for (const Occupant& occupant : node.occupants) {
    const HostParts excess = host_excess(node.facts, occupant.gpus.count(), occupant.ask);
    slot.host.excess += excess;
    slot.host.over += positive(excess);
  }
  for (const Held& held : node.held) {
    slot.host.held_over += positive(host_excess(node.facts, held.gpus.count(), held.ask));
  }
  slot.is_even = slot.host.is_even();
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
  // Without GPUs nothing else may tell that the node takes jobs again.
  if (slots_[index].usable != fresh.usable) forget_fits(slots_[index].leaf);
  slots_[index].usable = fresh.usable;
  slots_[index].all = fresh.all;
  count_used(slots_[index], 1);
  set(index, fresh.free, fresh.held, fresh.host);
  journal_.clear();
}

const NodeGroup* Capacity::group(const std::string& name) const {
  auto it = group_index_.find(name);
  return it == group_index_.end() ? nullptr : &groups_[it->second];
}

size_t Capacity::size_index(const RankSize& size) const {
  const auto it = std::ranges::find(sizes_, size);
  if (it != sizes_.end()) return static_cast<size_t>(it - sizes_.begin());
  if (sizes_.size() == kSizesMax) {
    sizes_.clear();
    fits_.clear();
  }
  sizes_.push_back(size);
  fits_.emplace_back(domains_.size());
  return sizes_.size() - 1;
}

const LeafFit& Capacity::leaf_fit(int leaf, const RankSize& size) const {
  LeafFit& fit = fits_[size_index(size)][leaf];
  if (fit.count >= 0) return fit;
  fit = {.count = 0};
  for (int index = domains_[leaf].first_slot; index < domains_[leaf].end_slot; ++index) {
    const Slot& slot = slots_[index];
    if (slot.free.is_empty() && size.gpus != kNoGpus) continue;
    const Fit found = best_fit(slot, size);
    if (!found.fits) continue;
    const std::pair best(fit.best_hole, fit.best_free);
    const std::pair mine(found.hole, slot.free.count());
    if (fit.count == 0 || mine < best) std::tie(fit.best_hole, fit.best_free) = mine;
    ++fit.count;
  }
  return fit;
}

int Capacity::fit_count(int domain, const RankSize& size) const {
  if (domains_[domain].is_leaf()) return leaf_fit(domain, size).count;
  int count = 0;
  for (int child = domains_[domain].first_child; child < domains_[domain].end_child; ++child) {
    count += fit_count(child, size);
  }
  return count;
}

int Capacity::hardware_in_largest_zone(const NodeGroup& group, const RankSize& size,
                                       const std::string& zone) const {
  const auto key = std::tuple(&group, size, zone);
  if (auto it = hardware_.find(key); it != hardware_.end()) return it->second;
  if (hardware_.size() == kSizesMax * kSizesMax) hardware_.clear();
  int most = 0;
  for (int index = group.first_zone; index < group.end_zone; ++index) {
    if (!zone.empty() && domains_[index].name != zone) continue;
    int count = 0;
    for (int slot = domains_[index].first_slot; slot < domains_[index].end_slot; ++slot) {
      const NodeFacts& facts = slots_[slot].node->facts;
      const bool has_gpus = size.gpus == kNoGpus || (facts.gpus > 0 && facts.gpus >= size.gpus);
      count += has_gpus && has_host(facts, size.gpus, size.ask) && size.takes(facts);
    }
    most = std::max(most, count);
  }
  hardware_.emplace(key, most);
  return most;
}

void Capacity::set(int slot, GpuSet free, GpuSet held, const HostLoad& host) {
  Slot& changed = slots_[slot];
  if (changed.free == free && changed.held == held && changed.host == host) return;
  journal_.push_back({slot, changed.free, changed.held, changed.host});
  count_used(changed, -1);
  changed.free = free;
  changed.held = held;
  changed.host = host;
  changed.is_even = host.is_even();
  count_used(changed, 1);
  forget_fits(changed.leaf);
}

void Capacity::forget_fits(int leaf) {
  for (std::vector<LeafFit>& fits : fits_) fits[leaf].count = -1;
}

void Capacity::undo_to(Mark mark, std::vector<int>* touched) {
  while (journal_.size() > mark) {
    const Change& change = journal_.back();
    Slot& changed = slots_[change.slot];
    count_used(changed, -1);
    changed.free = change.free;
    changed.held = change.held;
    changed.host = change.host;
    changed.is_even = change.host.is_even();
    count_used(changed, 1);
    forget_fits(changed.leaf);
    if (touched != nullptr) touched->push_back(change.slot);
    journal_.pop_back();
  }
}

void Capacity::take(const Placement& placement, HostAsk ask) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    const Slot& slot = slots_[index];
    set(index, without(slot.free, place.gpus), slot.held, with_rank(slot, place.gpus, ask, +1));
  }
}

void Capacity::hold(const Placement& placement, HostAsk ask) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    const Slot& slot = slots_[index];
    HostLoad host = slot.host;
    host.held_over += positive(host_excess(slot.node->facts, place.gpus.count(), ask));
    set(index, without(slot.free, place.gpus), slot.held | place.gpus, host);
  }
}

void Capacity::unhold(const Placement& placement, HostAsk ask) {
  for (const RankPlacement& place : placement) {
    const int index = index_of(place.node);
    const Slot& slot = slots_[index];
    GpuSet free = slot.free;
    if (slot.usable) free = free | without(place.gpus, slot.node->used_gpus());
    HostLoad host = slot.host;
    host.held_over -= positive(host_excess(slot.node->facts, place.gpus.count(), ask));
    set(index, free, without(slot.held, place.gpus), host);
  }
}

void Capacity::give(NodeId node, GpuSet gpus, HostAsk ask) {
  const int index = index_of(node);
  const Slot& slot = slots_[index];
  if (!slot.usable) return;
  set(index, slot.free | without(gpus, slot.held), slot.held, with_rank(slot, gpus, ask, -1));
}

void Capacity::ungive(NodeId node, GpuSet gpus, HostAsk ask) {
  const int index = index_of(node);
  const Slot& slot = slots_[index];
  if (!slot.usable) return;
  set(index, without(slot.free, gpus), slot.held, with_rank(slot, gpus, ask, +1));
}

void Capacity::cover(int index, GpuSet used, HostParts excess) {
  const Slot& slot = slots_[index];
  set(index, without(slot.all, used), {}, {.excess = excess, .over = positive(excess)});
}

}  // namespace hai
