#pragma once
// What a pretended node shows of its health: nothing but the faults it was told to have, until they
// are mended: by command, by the server's word, or by a hook. Loop thread only.

#include <functional>
#include <memory>
#include <vector>

#include "agent/core/health_port.h"
#include "common/loop.h"

namespace hai {

// The machine's truth; an agent that is started anew finds it again.
class FleetFaults {
 public:
  // One of its name replaces the one before. `results` stay sorted by name.
  void add(CheckResult fault);
  void clear(const std::string& name, UnixTime seen_until);
  void clear_all();
  const std::vector<CheckResult>& results() const { return results_; }
  // Called after each change; one at a time.
  void set_on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  std::vector<CheckResult> results_;
  std::function<void()> changed_;
};

class FleetHealth final : public HealthPort {
 public:
  // `faults` outlives it. `reboot`: the node is to go down and come back, which ends this object.
  FleetHealth(Loop& loop, FleetFaults& faults, std::function<void()> reboot)
      : loop_(loop), faults_(faults), reboot_(std::move(reboot)) {}
  ~FleetHealth() override;

  void start(std::function<void()> changed) override { faults_.set_on_change(std::move(changed)); }
  const std::vector<CheckResult>* results() const override { return &faults_.results(); }
  void look(std::function<void()> done) override;
  void clear(const ClearFault& order) override { faults_.clear(order.name, order.at); }
  void set_server_skew(Duration) override {}
  // Takes kHookLength and mends all.
  void run_hook(const RunHook& order, std::function<void(HookResult)> done) override;
  static constexpr Duration kHookLength = 1s;

 private:
  Loop& loop_;
  FleetFaults& faults_;
  std::function<void()> reboot_;
  TimerId hook_timer_ = 0;
};

}  // namespace hai
