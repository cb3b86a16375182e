#include "sim/baselines/node_pool.h"

#include <algorithm>

#include "common/check.h"

namespace hai {

void NodePool::update(const ClusterState& state, const Changes& changes) {
  if (changes.everything || slots_.empty()) return rebuild(state);
  for (NodeId node : changes.nodes) look_at(*state.find(node));
}

void NodePool::rebuild(const ClusterState& state) {
  slots_.clear();
  index_.clear();
  for (std::set<int>& slots : by_block_) slots.clear();
  usable_ = 0;
  for (const auto& [id, node] : state.nodes()) {
    index_.emplace(id, static_cast<int>(slots_.size()));
    slots_.push_back({.id = id});
    gpus_of_node_ = std::max(gpus_of_node_, node.facts.gpus);
    look_at(node);
  }
}

void NodePool::look_at(const Node& node) {
  int index = index_.at(node.id);
  Slot& slot = slots_[index];
  usable_ += (node.takes_jobs() ? 1 : 0) - (slot.usable ? 1 : 0);
  slot.usable = node.takes_jobs();
  slot.all = node.all_gpus();
  slot.free = slot.usable ? node.free_gpus() : GpuSet{};
  file(index);
}

void NodePool::set_free(const RankPlacement& place, bool free) {
  int index = index_.at(place.node);
  Slot& slot = slots_[index];
  CHECK(without(place.gpus, free ? without(slot.all, slot.free) : slot.free).is_empty());
  slot.free = free ? slot.free | place.gpus : without(slot.free, place.gpus);
  file(index);
}

void NodePool::file(int index) {
  Slot& slot = slots_[index];
  int kind = -1;
  if (!slot.free.is_empty()) {
    int block = largest_block(slot.free);
    kind = slot.free == slot.all ? static_cast<int>(kWhole) : block == 4 ? 2 : block - 1;
  }
  if (kind == slot.kind) return;
  if (slot.kind >= 0) by_block_[slot.kind].erase(index);
  if (kind >= 0) by_block_[kind].insert(index);
  slot.kind = kind;
}

NodeDemand NodePool::demand_of(const JobSpec& spec) const {
  bool is_share = spec.gpus_per_node > 0 && spec.gpus_per_node < gpus_of_node_;
  return {spec.node_count, is_share ? spec.gpus_per_node : 0};
}

const std::set<int>& NodePool::with_block(int gpus) const {
  return by_block_[gpus == 4 ? 2 : gpus - 1];
}

GpuSet NodePool::block(GpuSet free, int gpus) {
  for (int first = 0; first + gpus <= GpuSet::kMax; first += gpus) {
    GpuSet block{GpuSet::first(gpus).bits << first};
    if (without(block, free).is_empty()) return block;
  }
  return {};
}

int NodePool::largest_block(GpuSet free) {
  for (int gpus : {4, 2}) {
    if (!block(free, gpus).is_empty()) return gpus;
  }
  return 1;
}

}  // namespace hai
