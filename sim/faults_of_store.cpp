// Faults, the part about the store, and about clocks.

#include <algorithm>

#include "sim/faults.h"

namespace hai {

bool Faults::strikes_with(void (Faults::*strike)()) const {
  return std::ranges::any_of(kinds_, [&](const Kind& kind) { return kind.strike == strike; });
}

Duration Faults::slowest_append() const {
  return strikes_with(&Faults::slow_store) ? Deeds::kSlowest : Deeds::kSlow;
}

void Faults::fail_store() {
  const int64_t in_a_million = rng_.chance(0.5) ? 1'000'000 : 300'000;
  deeds_.now({.kind = DeedKind::store_fails, .time = between(100ms, 15s), .a = in_a_million});
}

void Faults::slow_store() { deeds_.now({.kind = DeedKind::store_slow, .time = between(1s, 1min)}); }

// A new primary that has all that was acknowledged; the lease's row too.
void Faults::fail_over_store() {
  deeds_.now({.kind = DeedKind::store_breaks});
  deeds_.now({.kind = DeedKind::store_down, .time = between(1s, 20s)});
}

// … and one that lacks the last transactions.
void Faults::fail_over_to_laggard() {
  deeds_.now({.kind = DeedKind::store_goes_back, .a = rng_.between(1, World::kPastKept)});
  deeds_.now({.kind = DeedKind::store_down, .time = between(1s, 20s)});
}

void Faults::jump_clock() {
  const bool is_everywhere = rng_.chance(0.2);
  const Duration skew = rng_.chance(0.3) ? between(-5s, 5s) : between(-12h, 12h);
  const Duration time = between(5s, 5min);
  const auto only = static_cast<int>(rng_.below(world_.machine_count()));
  for (int i = 0; i < world_.machine_count(); ++i) {
    if (!is_everywhere && i != only) continue;
    deeds_.now({.kind = DeedKind::clock, .target = i, .time = time, .a = skew.count()});
  }
}

}  // namespace hai
