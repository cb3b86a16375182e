#pragma once
// Looks for worlds that break a promise. Worlds that reach pairs of state, event and fault that
// none reached before are kept, and changed a little to reach more. One seed, one hunt: the same
// worlds in the same order.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/chaos.h"

namespace hai {

struct HuntOptions {
  uint64_t seed = 1;
  int64_t worlds = 1'000;          // at most
  bool learns = true;              // false: fresh worlds only, for comparison
  std::vector<std::string> known;  // violations with one of these texts are passed over
  ChaosOptions chaos;              // a judge, if any
  std::vector<WorldPlan> corpus;   // worlds to begin with
  std::function<void(const WorldPlan&)> before;  // each world that runs
  std::function<void(const WorldPlan&)> kept;    // each world that reached something new
  std::function<bool(int64_t worlds, size_t pairs, size_t kept)>
      goes_on;  // after each; empty = yes
};

struct Hunted {
  std::optional<WorldPlan> world;  // the one that broke a promise, if one did
  std::string violation;
  int64_t worlds = 0;  // that ran
  int64_t known = 0;   // violations passed over
  size_t pairs = 0;
  size_t kept = 0;
};

Hunted hunt(const HuntOptions& options);

}  // namespace hai
