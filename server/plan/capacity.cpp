#include "server/plan/capacity.h"

#include <algorithm>
#include <tuple>

namespace hai {

bool network_order(const Node& a, const Node& b) {
  auto key = [](const Node& node) {
    return std::tuple(std::string_view(node.facts.zone), node.facts.leaf.size(),
                      std::string_view(node.facts.leaf), node.facts.name.size(),
                      std::string_view(node.facts.name));
  };
  return key(a) < key(b);
}

Capacity::Capacity(const ClusterState& state) {
  slots_.reserve(state.nodes().size());
  for (const auto& [id, node] : state.nodes()) {
    Slot slot{.node = &node, .held = node.held_gpus(), .usable = node.takes_jobs()};
    if (slot.usable) slot.free = node.free_gpus();
    slots_.push_back(slot);
  }
  std::ranges::sort(slots_,
                    [](const Slot& a, const Slot& b) { return network_order(*a.node, *b.node); });
  for (size_t i = 0; i < slots_.size(); ++i) {
    groups_[slots_[i].node->facts.group].push_back(static_cast<int>(i));
    index_.emplace(slots_[i].node->id, static_cast<int>(i));
  }
}

const std::vector<int>& Capacity::group(const std::string& name) const {
  static const std::vector<int> kNone;
  auto it = groups_.find(name);
  return it == groups_.end() ? kNone : it->second;
}

void Capacity::take(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    Slot& slot = slots_[index_.at(place.node)];
    slot.free = without(slot.free, place.gpus);
  }
}

void Capacity::hold(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    Slot& slot = slots_[index_.at(place.node)];
    slot.free = without(slot.free, place.gpus);
    slot.held = slot.held | place.gpus;
  }
}

void Capacity::unhold(const Placement& placement) {
  for (const RankPlacement& place : placement) {
    Slot& slot = slots_[index_.at(place.node)];
    slot.held = without(slot.held, place.gpus);
    if (slot.usable) slot.free = slot.free | without(place.gpus, slot.node->used_gpus());
  }
}

void Capacity::give(NodeId node, GpuSet gpus) {
  Slot& slot = slots_[index_.at(node)];
  if (slot.usable) slot.free = slot.free | without(gpus, slot.held);
}

}  // namespace hai
