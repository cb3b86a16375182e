#include "sim/loss_watch.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/engine/decide_tick.h"
#include "server/control/nodes/decide_mass_loss.h"

namespace hai {
namespace {

constexpr Duration kTicks = 3s;

bool is_open(const ClusterState& state) {
  return std::ranges::any_of(state.incidents(),
                             [](const auto& each) { return each.second.kind == kMassLoss; });
}

}  // namespace

std::optional<std::string> LossWatch::look() {
  const MonoTime now = world_.timeline().now();
  cut_since_.resize(world_.node_count());
  bool some_are_cut = false;
  for (int i = 0; i < world_.node_count(); ++i) {
    // An impostor that has the name is no silent node.
    const auto unheard_since = world_.network().unheard_since(world_.node_name(i));
    if (!unheard_since || world_.impostor_runs(i)) {
      cut_since_[i].reset();
      continue;
    }
    some_are_cut = true;
    // It may have been heard between two looks.
    cut_since_[i] = std::max(cut_since_[i].value_or(now), *unheard_since);
  }
  const Controller* leader = world_.leader();
  if (leader == nullptr || leader != leader_ || leader->stats().step_downs != step_downs_) {
    leader_ = leader;
    step_downs_ = leader == nullptr ? 0 : leader->stats().step_downs;
    leads_since_ = now;
    turns_.reset();
    return std::nullopt;
  }
  const bool knows = now - leads_since_ > world_.knobs().down_after / 2 + kTicks;
  if (!some_are_cut || !knows || !is_mass_loss(*leader) || is_open(leader->state())) {
    turns_.reset();
    return std::nullopt;
  }
  if (!turns_) {
    turns_ = leader->stats().turns;
    seen_at_ = now;
  }
  if (now - seen_at_ < kTicks || leader->stats().turns < *turns_ + 4) return std::nullopt;
  return "many nodes are silent at once, and no incident of mass loss is open";
}

bool LossWatch::is_mass_loss(const Controller& leader) const {
  const Duration silent = silence_limit(world_.knobs()) + kTicks;
  int not_down = 0;
  int lost = 0;
  std::map<std::string, std::pair<int, int>> leaves;  // not down, lost
  for (const auto& [id, node] : leader.state().nodes()) {
    if (node.liveness == Liveness::down) continue;
    const std::optional<MonoTime> since = cut_since_[world_.index_of(node.facts.name)];
    const bool is_lost = since && node.liveness == Liveness::suspect &&
                         world_.timeline().now() - *since > silent + slowest_append_;
    auto& [of_leaf, lost_of_leaf] = leaves[node.facts.zone + '/' + node.facts.leaf];
    ++not_down, ++of_leaf;
    lost += is_lost, lost_of_leaf += is_lost;
  }
  if (lost >= std::max(3, not_down * world_.knobs().mass_loss_permille / 1000)) return true;
  return std::ranges::any_of(leaves, [](const auto& leaf) {
    return leaf.second.second >= 2 && leaf.second.second == leaf.second.first;
  });
}

}  // namespace hai
