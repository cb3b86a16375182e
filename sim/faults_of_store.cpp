// Faults, the part about the store, and about clocks.

#include <algorithm>

#include "sim/faults.h"

namespace hai {

constexpr Duration kSlowest = 90s;

bool Faults::strikes_with(void (Faults::*strike)()) const {
  return std::ranges::any_of(kinds_, [&](const Kind& kind) { return kind.strike == strike; });
}

Duration Faults::slowest_append() const {
  return strikes_with(&Faults::slow_store) ? kSlowest : Duration(2s);
}

void Faults::hook_store() {
  MemHooks& hooks = world_.database().hooks;
  hooks.latency = [this] {
    // The longest outlast every lease: the request is done, or arrives, when another one leads.
    if (now() < store_slow_until_ && rng_.chance(0.3)) return between(2s, kSlowest);
    return Duration(rng_.between(200, rng_.chance(0.02) ? 1'500'000 : 4'000));
  };
  hooks.way_there = [this](Duration whole) {
    if (whole < 2s) return whole / 2;
    return rng_.chance(0.5) ? whole - 1ms : rng_.chance(0.5) ? Duration(1ms) : whole / 2;
  };
  hooks.fault = [this] {
    if (now() < store_down_until_) return MemFault::fail_before;
    if (now() >= store_failing_until_ || !rng_.chance(store_failure_rate_)) return MemFault::ok;
    return rng_.chance(0.5) ? MemFault::fail_before : MemFault::fail_after;
  };
  hooks.lands_on_crash = [this] { return rng_.chance(0.5); };
}

void Faults::fail_store() {
  store_failure_rate_ = rng_.chance(0.5) ? 1.0 : 0.3;
  store_failing_until_ = now() + between(100ms, 15s);
}

void Faults::slow_store() { store_slow_until_ = now() + between(1s, 1min); }

// A new primary that has all that was acknowledged; the lease's row too.
void Faults::fail_over_store() {
  world_.database().break_sessions();
  store_down_until_ = std::max(store_down_until_, now() + between(1s, 20s));
}

// … and one that lacks the last transactions.
void Faults::fail_over_to_laggard() {
  world_.database().go_back(static_cast<size_t>(rng_.between(1, World::kPastKept)));
  store_down_until_ = std::max(store_down_until_, now() + between(1s, 20s));
}

void Faults::jump_clock() {
  const bool is_everywhere = rng_.chance(0.2);
  const Duration skew = rng_.chance(0.3) ? between(-5s, 5s) : between(-12h, 12h);
  const Duration time = between(5s, 5min);
  const auto only = static_cast<int>(rng_.below(world_.machine_count()));
  for (int i = 0; i < world_.machine_count(); ++i) {
    if (!is_everywhere && i != only) continue;
    world_.set_wall_skew(i, skew);
    loop_.call_after(time, [this, i, jump = ++skew_id_[i]] {
      if (skew_id_[i] == jump) world_.set_wall_skew(i, Duration(0));
    });
  }
}

}  // namespace hai
