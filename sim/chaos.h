#pragma once
// One chaos run: random jobs under random faults, then everything heals and every job must end
// (liveness).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "server/model/event.h"
#include "sim/decision_points.h"
#include "sim/world_plan.h"

namespace hai {

struct ChaosOptions {
  int nodes = 0;                 // 0 = drawn from the seed, 3..9
  Duration chaos = 15min;        // virtual time with faults
  Duration liveness = 3h;        // virtual time for everything to end after healing
  bool asks_for_host = false;    // jobs ask for CPUs and memory, and some for no GPUs
  bool store_goes_back = false;  // a fault that loses what was acknowledged (docs/design/0006)
  bool verbose = false;
  std::function<void(const std::vector<Event>&)> on_log;  // gets the whole event log at the end
  const WorldPlan* plan = nullptr;  // this world, not the seed's; `nodes` and `chaos` are its own
  WorldPlan* record = nullptr;      // becomes the world that runs, every draw of it on its tape
  std::function<void(const Moment&, World&)> on_moment;
  std::function<void(const Deed&, World&)> on_deed;
  std::function<void(const Act&, World&)> on_act;
  // A promise of the caller's own: asked after each decision point; what is wrong, if anything.
  std::function<std::optional<std::string>(const Moment&, World&)> judge;
};

struct ChaosResult {
  uint64_t seed = 0;
  std::optional<std::string> violation;
  // Nobody who could have told the leader knew that the store had gone back, or most nodes'
  // registrations are gone with it (docs/design/0006).
  bool is_after_unknowable_loss = false;
  uint64_t digest = 0;
  int64_t jobs = 0;
  int64_t events = 0;
  int64_t processes = 0;
  int64_t faults = 0;
  int64_t fenced = 0;  // processes that their node's fence ended
  std::string kinds;   // of faults
  Duration virtual_time{0};
};

ChaosResult run_chaos(uint64_t seed, const ChaosOptions& options);
// The same of a world told in full; seed and kinds of the result mean nothing.
ChaosResult run_world(const WorldPlan& plan, ChaosOptions options = {});

}  // namespace hai
