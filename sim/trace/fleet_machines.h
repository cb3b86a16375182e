#pragma once
// The machines under a fleet's ranks, for simulations in which hardware breaks and is mended
// (sim/year). A fleet without them has nodes that no check looks at.

#include <optional>
#include <vector>

#include "common/agent_messages.h"

namespace hai {

// How a validation of a node will go.
struct ValidationRun {
  Duration takes{0};
  int exit_code = 0;
  std::vector<Measurement> measurements;
};

class FleetMachines {
 public:
  virtual ~FleetMachines() = default;
  // All that the node's agent reports of its checks.
  virtual std::vector<CheckResult> checks(int node) = 0;
  // Of the last hook that its agent ran, since it came up.
  virtual std::optional<HookResult> hook(int node) = 0;
  virtual void run_hook(int node, const RunHook& order) = 0;
  virtual void clear_fault(int node, const ClearFault& order) = 0;
  virtual ValidationRun validate(int node) = 0;
};

}  // namespace hai
