#include "sim/baselines/first_fit.h"

#include <algorithm>

namespace hai {
namespace {

int first_open(const NodePool& pool, const std::set<int>& slots, const Shadow& shadow) {
  for (int slot : slots) {
    if (!shadow.keeps(slot)) return slot;
  }
  return pool.size();
}

int first_for_share(const NodePool& pool, int gpus, const Shadow& shadow) {
  int best = first_open(pool, pool.whole(), shadow);
  for (int block : {1, 2, 4}) {
    if (block >= gpus) best = std::min(best, first_open(pool, pool.with_block(block), shadow));
  }
  return best;
}

void keep_whole(const NodePool& pool, int nodes, const std::vector<int>& freed, Shadow& shadow) {
  shadow.kept.assign(pool.size(), false);
  for (int slot : freed) {
    if (nodes == 0) return;
    shadow.kept[slot] = true;
    --nodes;
  }
  for (auto slot = pool.whole().rbegin(); nodes > 0; ++slot, --nodes) {
    shadow.kept[*slot] = true;
    ++shadow.kept_whole;
  }
}

}  // namespace

Shadow reserve(const NodePool& pool, const NodeDemand& head, const Endings& endings, UnixTime now) {
  Shadow shadow;
  std::vector<GpuSet> free;
  for (int slot = 0; slot < pool.size(); ++slot) free.push_back(pool.free(slot));
  std::vector<int> freed;  // as a whole
  const auto free_now = std::ssize(pool.whole());
  for (const auto& [key, placement] : endings) {
    for (const RankPlacement& place : *placement) {
      int slot = pool.slot_of(place.node);
      if (!pool.is_usable(slot)) continue;
      free[slot] = free[slot] | place.gpus;
      if (free[slot] == pool.all(slot)) freed.push_back(slot);
      if (!head.is_share() || NodePool::block(free[slot], head.gpus).is_empty()) continue;
      shadow.at = std::max(key.first, now);
      shadow.kept.assign(pool.size(), false);
      shadow.kept[slot] = true;
      return shadow;
    }
    if (head.is_share() || free_now + std::ssize(freed) < head.nodes) continue;
    shadow.at = std::max(key.first, now);
    keep_whole(pool, head.nodes, freed, shadow);
    return shadow;
  }
  return shadow;
}

bool fits(const NodePool& pool, const NodeDemand& demand, const Shadow* shadow) {
  if (demand.is_share()) {
    return first_for_share(pool, demand.gpus, shadow ? *shadow : Shadow{}) < pool.size();
  }
  return std::ssize(pool.whole()) - (shadow ? shadow->kept_whole : 0) >= demand.nodes;
}

Placement place(const NodePool& pool, const NodeDemand& demand, const Shadow& shadow) {
  if (demand.is_share()) {
    int slot = first_for_share(pool, demand.gpus, shadow);
    if (slot == pool.size()) return {};
    return {{pool.id(slot), NodePool::block(pool.free(slot), demand.gpus)}};
  }
  if (!fits(pool, demand, &shadow)) return {};
  Placement placement;
  for (int slot : pool.whole()) {
    if (std::ssize(placement) == demand.nodes) break;
    if (!shadow.keeps(slot)) placement.push_back({pool.id(slot), pool.all(slot)});
  }
  return placement;
}

}  // namespace hai
