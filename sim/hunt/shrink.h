#pragma once
// Makes a world that breaks a promise smaller while it breaks the same one: fewer faults, acts,
// nodes, held messages and draws that are not calm, and knobs back at their defaults.

#include <functional>
#include <string>

#include "sim/chaos.h"

namespace hai {

// Two violations of one kind differ in names and numbers only.
std::string kind_of_violation(const std::string& violation);

struct ShrinkOptions {
  Duration time = 60s;  // of the real clock, at most
  ChaosOptions chaos;   // a judge, if any
  // Told now and then: runs so far, and what is left.
  std::function<void(int64_t runs, const WorldPlan& left)> progress;
};

struct Shrunk {
  WorldPlan world;
  std::string violation;
  int64_t runs = 0;
  bool is_done = false;  // nothing more can go; false: out of time
};

// `world` must break a promise in the way of `violation`, as run_world says it.
Shrunk shrink(const WorldPlan& world, const std::string& violation, const ShrinkOptions& options);

}  // namespace hai
