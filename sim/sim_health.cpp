#include "sim/sim_health.h"

#include <algorithm>
#include <tuple>

namespace hai {
namespace {

bool is_logged(const CheckResult& check) { return check.kind().is_latched; }

auto key_of(const CheckResult& check) { return std::tie(check.name, check.subject); }

}  // namespace

void SimHardware::fail(CheckResult check) {
  check.at = loop_.wall_now();
  auto at = std::ranges::lower_bound(
      checks_, check, [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  if (at != checks_.end() && key_of(*at) == key_of(check)) {
    *at = std::move(check);
  } else {
    checks_.insert(at, std::move(check));
  }
  tell();
}

void SimHardware::mend(const std::string& name) {
  if (std::erase_if(checks_, [&](const CheckResult& check) { return check.name == name; }) > 0)
    tell();
}

void SimHardware::mend_all() {
  if (!std::exchange(checks_, {}).empty()) tell();
}

void SimHardware::clear(const ClearFault& order) {
  const auto count = std::erase_if(checks_, [&](const CheckResult& check) {
    return check.name == order.name && check.subject == order.subject && check.at <= order.at;
  });
  if (count > 0) tell();
}

void SimHardware::restarted() {
  changed = nullptr;
  std::erase_if(checks_, is_logged);
}

void SimHardware::run_hook(const RunHook& order, std::function<void(HookResult)> done) {
  const Duration takes(dice_.between(Source::hook, node_, 1'000'000, 60'000'000, rng_));
  const bool is_reboot =
      order.action == HookAction::reboot && dice_.chance(Source::hook, node_, 0.8, rng_);
  const bool works = dice_.chance(Source::hook, node_, 0.8, rng_);
  loop_.call_after(takes, [this, id = order.id, is_reboot, works, done = std::move(done)] {
    if (works) std::erase_if(checks_, [](const CheckResult& check) { return !is_logged(check); });
    if (is_reboot) return reboot();
    tell();
    done({id, works ? 0 : 1, works ? "" : "simulated failure of the hook"});
  });
}

// The command outlives the agent that ran it; what it says then is lost.
void SimHealth::run_hook(const RunHook& order, std::function<void(HookResult)> done) {
  hardware_.run_hook(order, scope_.bind([&loop = loop_, done = std::move(done)](HookResult result) {
    loop.post([done, result = std::move(result)] { done(result); });
  }));
}

}  // namespace hai
