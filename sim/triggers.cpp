#include "sim/triggers.h"

#include <algorithm>
#include <utility>

namespace hai {

Triggers::Triggers(World& world, Deeds& deeds, Workload& workload)
    : world_(world), deeds_(deeds), workload_(workload), loop_(world.timeline()) {}

void Triggers::arm(const WorldPlan& plan) {
  for (const PlannedDeed& planned : plan.deeds) {
    arm(planned.when, [this, deed = planned.deed](const Moment& at) { strike(deed, at.node); });
  }
  for (const PlannedAct& planned : plan.acts) {
    arm(planned.when, [this, act = planned.act](const Moment&) { workload_.play(act); });
  }
  for (const PlannedHold& hold : plan.holds) {
    waiting_.push_back(
        {hold.when, [this, n = hold.arrivals](const Moment&) { hold_next_ = n; }, true});
  }
  if (plan.holds.empty()) return;
  world_.network().hold_back = [this](const SimNetwork::Passing&) {
    return std::exchange(hold_next_, 0);
  };
}

void Triggers::arm(const When& when, std::function<void(const Moment&)> act) {
  if (when.point >= 0) return waiting_.push_back({when, std::move(act), false});
  loop_.call_after(when.at - world_.timeline().now().time_since_epoch(),
                   [act = std::move(act)] { act({}); });
}

void Triggers::strike(Deed deed, int node) {
  const int targets = targets_of(deed.kind, world_);
  deed.target = (deed.target == PlannedDeed::kThere ? std::max(node, 0) : deed.target) % targets;
  deeds_.now(deed);
}

void Triggers::see(const Moment& moment) {
  if (waiting_.empty()) return;
  if (is_message_that_leaves(moment.point)) hold_next_ = 0;
  const Duration now = world_.timeline().now().time_since_epoch();
  for (size_t i = 0; i < waiting_.size();) {
    Waiting& waiting = waiting_[i];
    const When& when = waiting.when;
    const bool is_it = when.point == moment.point && when.at <= now &&
                       (when.node < 0 || when.node == moment.node) && --waiting.when.nth <= 0;
    if (!is_it) {
      ++i;
      continue;
    }
    if (waiting.is_hold) {
      waiting.act(moment);
    } else {
      // Never from inside of what happens at the point.
      loop_.call_after(when.after,
                       [act = std::move(waiting.act), node = moment.node] { act({.node = node}); });
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace hai
