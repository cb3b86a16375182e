#include "sim/faults.h"

namespace hai {

Faults::Faults(World& world, uint64_t seed) : world_(world), loop_(world.timeline()), rng_(seed) {
  NetworkModel& network = world.network().model;
  network.delay_max = Duration(rng_.between(1'000, 200'000));
  network.loss = rng_.chance(0.5) ? rng_.unit() * 0.05 : 0;
  network.duplication = rng_.chance(0.5) ? rng_.unit() * 0.05 : 0;
  network.reordering = rng_.chance(0.5) ? rng_.unit() * 0.2 : 0;
  network.keepalive = Duration(rng_.between(5'000'000, 20'000'000));
  for (int i = 0; i < world.node_count(); ++i)
    world.node(i).launch_failure_rate = rng_.chance(0.2) ? 0.05 : 0;
  world.database().hooks.latency = [this] {
    return Duration(rng_.between(200, rng_.chance(0.02) ? 1'500'000 : 4'000));
  };
  world.database().hooks.fault = [this] {
    if (!rng_.chance(store_failure_rate_)) return MemFault::ok;
    return rng_.chance(0.5) ? MemFault::fail_before : MemFault::fail_after;
  };
  world.database().hooks.lands_on_crash = [this] { return rng_.chance(0.5); };
}

void Faults::strike() {
  ++count_;
  double dice = rng_.unit();
  if (dice < 0.2) return server_fault();
  if (dice < 0.65) return agent_fault();
  if (dice < 0.9) return network_fault();
  store_fault();
}

void Faults::server_fault() {
  int index = static_cast<int>(rng_.below(world_.server_count()));
  if (!world_.server_runs(index)) return;
  if (rng_.chance(0.4)) {
    world_.pause_server(index, Duration(rng_.between(100'000, 60'000'000)));
    return;
  }
  world_.crash_server(index);
  restart_server_later(index);
}

void Faults::restart_server_later(int index) {
  loop_.call_after(Duration(rng_.between(100'000, 20'000'000)), [this, index] {
    if (!world_.server_runs(index)) world_.start_server(index);
  });
}

void Faults::agent_fault() {
  int index = static_cast<int>(rng_.below(world_.node_count()));
  double dice = rng_.unit();
  if (dice < 0.2) {
    world_.node(index).crash_one_shim();
    return;
  }
  if (dice < 0.6) {
    if (world_.agent_runs(index)) world_.crash_agent(index);
  } else {
    world_.crash_node(index);
  }
  restart_agent_later(index);
}

void Faults::restart_agent_later(int index) {
  Duration after(rng_.chance(0.7) ? rng_.between(100'000, 10'000'000)
                                  : rng_.between(10'000'000, 120'000'000));
  loop_.call_after(after, [this, index] {
    if (!world_.agent_runs(index)) world_.start_agent(index);
  });
}

void Faults::network_fault() {
  int index = static_cast<int>(rng_.below(world_.node_count()));
  SimNetwork::Cut direction = rng_.chance(0.6)   ? SimNetwork::Cut::both
                              : rng_.chance(0.5) ? SimNetwork::Cut::to_server
                                                 : SimNetwork::Cut::to_agent;
  world_.network().cut(world_.node_name(index), direction);
  loop_.call_after(Duration(rng_.between(1'000'000, 90'000'000)),
                   [this, index] { world_.network().heal(world_.node_name(index)); });
}

void Faults::store_fault() {
  store_failure_rate_ = rng_.chance(0.5) ? 1.0 : 0.3;
  loop_.call_after(Duration(rng_.between(100'000, 15'000'000)),
                   [this] { store_failure_rate_ = 0; });
}

void Faults::heal() {
  store_failure_rate_ = 0;
  world_.network().heal_all();
  world_.network().model.loss = 0;
  for (int i = 0; i < world_.node_count(); ++i) {
    world_.node(i).launch_failure_rate = 0;
    if (!world_.agent_runs(i)) world_.start_agent(i);
  }
  for (int i = 0; i < world_.server_count(); ++i) {
    if (!world_.server_runs(i)) world_.start_server(i);
  }
}

}  // namespace hai
