#pragma once
// One pretended node: the agent of production with its own connection to the server; only its ranks
// are timers. It can be dead (nothing of it exists, as after a power cut), silent (it lives, but
// its network carries nothing), launch badly or have faults of health. Loop thread only.

#include <memory>
#include <string>

#include "agent/core/agent.h"
#include "agent/fleet/fleet_health.h"
#include "agent/fleet/fleet_peers.h"
#include "agent/fleet/timer_ranks.h"
#include "agent/rpc/server_link.h"
#include "common/loop.h"

namespace hai {

struct FleetNodeOptions {
  ServerLinkOptions link;
  NodeFacts facts;
  std::optional<Duration> rank_length;  // see program_of
};

class FleetNode {
 public:
  // All references outlive it.
  FleetNode(Loop& loop, FleetPeers& peers, FleetNodeOptions options);
  ~FleetNode();

  const NodeFacts& facts() const { return options_.facts; }
  void start();  // does nothing if it lives
  // Its ranks are gone and its connection is broken; a later start is a machine that has booted.
  void kill();
  void set_silent(bool is_silent) { is_silent_ = is_silent; }
  LaunchHabit& launch_habit() { return habit_; }
  FleetFaults& faults() { return faults_; }

  bool is_alive() const { return life_ != nullptr; }
  bool is_silent() const { return is_silent_; }
  size_t ranks() const;  // that live

 private:
  struct Life;
  void reboot();

  Loop& loop_;
  FleetPeers& peers_;
  FleetNodeOptions options_;
  int boots_ = 0;
  bool is_silent_ = false;
  LaunchHabit habit_;
  FleetFaults faults_;
  std::unique_ptr<Life> life_;
  TimerId boot_timer_ = 0;
};

}  // namespace hai
