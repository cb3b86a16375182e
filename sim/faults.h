#pragma once
// Random faults on a world, each undone after a while. Which kinds there are is drawn from the
// seed: few kinds at a time find what many hide.

#include <string>
#include <vector>

#include "sim/deed.h"
#include "sim/world.h"

namespace hai {

class Faults {
 public:
  Faults(World& world, uint64_t seed);

  // One random fault now.
  void strike();
  Deeds& deeds() { return deeds_; }
  int64_t count() const { return count_; }
  std::string kinds() const;  // drawn for this seed, by name
  Duration slowest_append() const;

 private:
  struct Kind {
    const char* name;
    int weight;
    void (Faults::*strike)();
  };
  static const std::vector<Kind>& all_kinds();

  bool strikes_with(void (Faults::*strike)()) const;

  // Servers.
  void crash_server();
  void pause_server();
  void restart_storm();
  void take_control_plane_away();
  // Agents and nodes.
  void crash_agent();
  void crash_node();
  void crash_shim();
  void pause_agent();
  void restart_all_agents();
  void make_record_unwritable();
  void lose_record();
  void start_impostor();
  void start_agent_after(Duration delay, int index) {
    deeds_.after(delay, {.kind = DeedKind::agent_start, .target = index});
  }
  // Hardware.
  void fail_check();
  void fail_check_of_leaf();
  // Network.
  void cut_node();
  void cut_leaf();
  void split();
  void part_peers();
  void cut_for(Duration time, int node, SimNetwork::Cut direction, int island);
  // Store and clocks.
  void fail_store();
  void slow_store();
  void fail_over_store();
  void fail_over_to_laggard();
  void jump_clock();

  Duration between(Duration low, Duration high) {
    return Duration(rng_.between(low.count(), high.count()));
  }
  int some_node() { return static_cast<int>(rng_.below(world_.node_count())); }

  void now(DeedKind kind, int target) { deeds_.now({.kind = kind, .target = target}); }

  World& world_;
  VirtualLoop loop_;
  Rng rng_;
  Deeds deeds_;
  int64_t count_ = 0;
  std::vector<Kind> kinds_;
};

}  // namespace hai
