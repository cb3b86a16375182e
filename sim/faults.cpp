#include "sim/faults.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace hai {

const std::vector<Faults::Kind>& Faults::all_kinds() {
  static const std::vector<Kind> kinds = {
      {"server_crash", 8, &Faults::crash_server},
      {"server_pause", 6, &Faults::pause_server},
      {"restart_storm", 2, &Faults::restart_storm},
      {"control_plane_away", 6, &Faults::take_control_plane_away},
      {"agent_crash", 12, &Faults::crash_agent},
      {"node_crash", 10, &Faults::crash_node},
      {"shim_crash", 6, &Faults::crash_shim},
      {"agent_pause", 6, &Faults::pause_agent},
      {"all_agents_restart", 2, &Faults::restart_all_agents},
      {"record_unwritable", 3, &Faults::make_record_unwritable},
      {"record_lost", 3, &Faults::lose_record},
      {"impostor", 4, &Faults::start_impostor},
      {"node_cut", 12, &Faults::cut_node},
      {"leaf_cut", 5, &Faults::cut_leaf},
      {"split", 4, &Faults::split},
      {"peers_parted", 4, &Faults::part_peers},
      {"store_failing", 5, &Faults::fail_store},
      {"store_slow", 4, &Faults::slow_store},
      {"store_failover", 3, &Faults::fail_over_store},
      {"clock_jump", 4, &Faults::jump_clock},
      {"check_fails", 10, &Faults::fail_check},
      {"leaf_check_fails", 3, &Faults::fail_check_of_leaf},
  };
  return kinds;
}

Faults::Faults(World& world, uint64_t seed)
    : world_(world), loop_(world.timeline()), rng_(seed), deeds_(world, rng_) {
  NetworkModel& network = world.network().model;
  network.delay_max = Duration(rng_.between(1'000, 200'000));
  network.loss = rng_.chance(0.5) ? rng_.unit() * 0.05 : 0;
  network.duplication = rng_.chance(0.5) ? rng_.unit() * 0.05 : 0;
  network.reordering = rng_.chance(0.5) ? rng_.unit() * 0.2 : 0;
  network.keepalive = Duration(rng_.between(5'000'000, 20'000'000));
  for (int i = 0; i < world.node_count(); ++i)
    world.node(i).launch_failure_rate = rng_.chance(0.2) ? 0.05 : 0;
  const double share = rng_.chance(0.3) ? 1.0 : rng_.chance(0.5) ? 0.5 : 0.12;
  for (const Kind& kind : all_kinds()) {
    if (rng_.chance(share)) kinds_.push_back(kind);
  }
  if (world.store_goes_back()) {
    kinds_.push_back({"store_goes_back", 3, &Faults::fail_over_to_laggard});
  }
  if (kinds_.empty()) kinds_.push_back(rng_.pick(all_kinds()));
}

std::string Faults::kinds() const {
  std::vector<std::string> names;
  for (const Kind& kind : kinds_) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ","));
}

void Faults::strike() {
  ++count_;
  int sum = 0;
  for (const Kind& kind : kinds_) sum += kind.weight;
  int64_t dice = rng_.between(1, sum);
  for (const Kind& kind : kinds_) {
    dice -= kind.weight;
    if (dice <= 0) return (this->*kind.strike)();
  }
}

}  // namespace hai
