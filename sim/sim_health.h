#pragma once
// What an agent process sees of a simulated node's hardware: its HealthPort. The hardware itself is
// SimHardware, which outlives agents as the node does.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/health_port.h"
#include "common/loop_scope.h"
#include "common/rng.h"
#include "sim/dice.h"
#include "sim/virtual_loop.h"

namespace hai {

// Checks that are not well, until they are mended. What the kernel's log has said stands until
// somebody clears it or the machine restarts.
class SimHardware {
 public:
  SimHardware(Timeline& timeline, Dice& dice, std::string node, const MachineClock* clock,
              uint64_t seed)
      : loop_(timeline, clock), dice_(dice), node_(std::move(node)), rng_(seed) {}

  void fail(CheckResult check);
  void mend(const std::string& name);
  void mend_all();
  void clear(const ClearFault& order);
  void restarted();
  const std::vector<CheckResult>& checks() const { return checks_; }

  // A hook takes a while, and may fail; a reboot takes the node's agent with it.
  void run_hook(const RunHook& order, std::function<void(HookResult)> done);

  std::function<void()> changed;  // set by the agent that runs
  std::function<void()> reboot;   // set by the world

 private:
  void tell() {
    if (changed) changed();
  }

  VirtualLoop loop_;
  Dice& dice_;
  const std::string node_;
  Rng rng_;
  std::vector<CheckResult> checks_;  // sorted by name and subject
};

class SimHealth final : public HealthPort {
 public:
  SimHealth(SimHardware& hardware, Loop& agent_loop) : hardware_(hardware), loop_(agent_loop) {}
  ~SimHealth() override { hardware_.changed = nullptr; }

  void start(std::function<void()> changed) override {
    hardware_.changed = [&loop = loop_, changed = std::move(changed)] { loop.post(changed); };
  }
  const std::vector<CheckResult>* results() const override { return &hardware_.checks(); }
  void look(std::function<void()> done) override {
    loop_.call_after(std::chrono::seconds(1), std::move(done));
  }
  void clear(const ClearFault& order) override { hardware_.clear(order); }
  void set_server_skew(Duration) override {}
  void run_hook(const RunHook& order, std::function<void(HookResult)> done) override;

 private:
  SimHardware& hardware_;
  Loop& loop_;
  LoopScope scope_;
};

}  // namespace hai
