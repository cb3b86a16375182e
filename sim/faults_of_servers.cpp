// Faults, the part about servers.

#include "sim/faults.h"

namespace hai {

void Faults::crash_server() {
  const int index = static_cast<int>(rng_.below(world_.server_count()));
  if (!world_.server_runs(index)) return;
  world_.crash_server(index);
  start_server_after(between(100ms, 20s), index);
}

void Faults::start_server_after(Duration delay, int index) {
  loop_.call_after(delay, [this, index] {
    if (world_.server_runs(index)) return;
    if (now() < servers_away_until_) return start_server_after(servers_away_until_ - now(), index);
    world_.start_server(index);
  });
}

void Faults::pause_server() {
  const int index = static_cast<int>(rng_.below(world_.server_count()));
  world_.pause_server(index, between(100ms, 60s));
}

// Each comes up, may win a term, and falls again.
void Faults::restart_storm() {
  Duration at{0};
  for (int64_t left = rng_.between(3, 12); left > 0; --left) {
    at += between(50ms, 4s);
    loop_.call_after(at, [this] {
      for (int i = 0; i < world_.server_count(); ++i) {
        if (!world_.server_runs(i) || rng_.chance(0.3)) continue;
        world_.crash_server(i);
        start_server_after(between(10ms, 3s), i);
      }
    });
  }
}

// For everybody, while the agents reach each other: no server, no way to them, or no store.
void Faults::take_control_plane_away() {
  const Duration time = rng_.chance(0.5) ? between(10s, 1min) : between(1min, 10min);
  switch (rng_.below(3)) {
    case 0:
      servers_away_until_ = std::max(servers_away_until_, now() + time);
      for (int i = 0; i < world_.server_count(); ++i) {
        if (world_.server_runs(i)) world_.crash_server(i);
        start_server_after(time + between(0s, 5s), i);
      }
      return;
    case 1:
      for (int i = 0; i < world_.node_count(); ++i) cut_for(time, i, SimNetwork::Cut::both, 0);
      return;
    default:
      store_down_until_ = std::max(store_down_until_, now() + time);
  }
}

}  // namespace hai
