#include "agent/fleet/fleet_health.h"

#include <algorithm>

namespace hai {

void FleetFaults::add(CheckResult fault) {
  std::erase_if(results_, [&](const CheckResult& known) { return known.name == fault.name; });
  const auto place = std::ranges::lower_bound(results_, fault.name, {}, &CheckResult::name);
  results_.insert(place, std::move(fault));
  if (changed_) changed_();
}

void FleetFaults::clear(const std::string& name, UnixTime seen_until) {
  const size_t cleared = std::erase_if(results_, [&](const CheckResult& known) {
    return known.name == name && known.at <= seen_until;
  });
  if (cleared > 0 && changed_) changed_();
}

void FleetFaults::clear_all() {
  if (std::exchange(results_, {}).empty()) return;
  if (changed_) changed_();
}

FleetHealth::~FleetHealth() {
  loop_.cancel(hook_timer_);
  faults_.set_on_change(nullptr);
}

// What there is to see is known at once.
void FleetHealth::look(std::function<void()> done) { loop_.post(std::move(done)); }

void FleetHealth::run_hook(const RunHook& order, std::function<void(HookResult)> done) {
  loop_.cancel(hook_timer_);
  hook_timer_ = loop_.call_after(kHookLength, [this, order, done = std::move(done)] {
    hook_timer_ = 0;
    faults_.clear_all();
    if (order.action != HookAction::reboot) return done({order.id, 0, "a pretended node"});
    reboot_();
  });
}

}  // namespace hai
