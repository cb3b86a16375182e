#pragma once
// What the agent's core needs of its node's health. Production: agent/health behind
// agent/node_health. Loop thread only.

#include <functional>
#include <vector>

#include "common/agent_messages.h"

namespace hai {

class HealthPort {
 public:
  virtual ~HealthPort() = default;

  // `changed`: results() differ from before in more than readings.
  virtual void start(std::function<void()> changed) = 0;
  // All, sorted by name and subject; nullptr as long as they are not known.
  virtual const std::vector<CheckResult>* results() const = 0;
  // Of all GPUs, by index, as last looked at; empty if they have no driver.
  virtual std::vector<GpuReading> gpu_readings() const { return {}; }
  // Looks at once at what may explain a failure; `done` when it has, at the latest after kLookMax.
  virtual void look(std::function<void()> done) = 0;
  static constexpr Duration kLookMax = 5s;
  virtual void clear(const ClearFault& order) = 0;
  // The server's wall clock minus ours.
  virtual void set_server_skew(Duration skew) = 0;
  // Runs the site's command; `done` when it has ended, which after a reboot it never does, and the
  // node was looked at after it.
  virtual void run_hook(const RunHook& order, std::function<void(HookResult)> done) = 0;
};

}  // namespace hai
