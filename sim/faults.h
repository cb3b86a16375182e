#pragma once
// Random faults on a world, each undone after a while.

#include "sim/world.h"

namespace hai {

class Faults {
 public:
  Faults(World& world, uint64_t seed);

  // One random fault now.
  void strike();
  // Ends every fault and starts everything that is down.
  void heal();
  int64_t count() const { return count_; }

 private:
  void server_fault();
  void agent_fault();
  void network_fault();
  void store_fault();
  void restart_server_later(int index);
  void restart_agent_later(int index);

  World& world_;
  VirtualLoop loop_;
  Rng rng_;
  int64_t count_ = 0;
  double store_failure_rate_ = 0;
};

}  // namespace hai
