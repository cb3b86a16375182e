// Faults, the part about servers.

#include "sim/faults.h"

namespace hai {

void Faults::crash_server() {
  const int index = static_cast<int>(rng_.below(world_.server_count()));
  if (!world_.server_runs(index)) return;
  now(DeedKind::server_crash, index);
  deeds_.after(between(100ms, 20s), {.kind = DeedKind::server_start, .target = index});
}

void Faults::pause_server() {
  const int index = static_cast<int>(rng_.below(world_.server_count()));
  deeds_.now({.kind = DeedKind::server_pause, .target = index, .time = between(100ms, 60s)});
}

// Each comes up, may win a term, and falls again.
void Faults::restart_storm() {
  Duration at{0};
  for (int64_t left = rng_.between(3, 12); left > 0; --left) {
    at += between(50ms, 4s);
    loop_.call_after(at, [this] {
      for (int i = 0; i < world_.server_count(); ++i) {
        if (!world_.server_runs(i) || rng_.chance(0.3)) continue;
        now(DeedKind::server_crash, i);
        deeds_.after(between(10ms, 3s), {.kind = DeedKind::server_start, .target = i});
      }
    });
  }
}

// For everybody, while the agents reach each other: no server, no way to them, or no store.
void Faults::take_control_plane_away() {
  const Duration time = rng_.chance(0.5) ? between(10s, 1min) : between(1min, 10min);
  switch (rng_.below(3)) {
    case 0:
      deeds_.now({.kind = DeedKind::servers_away, .time = time});
      for (int i = 0; i < world_.server_count(); ++i) {
        now(DeedKind::server_crash, i);
        deeds_.after(time + between(0s, 5s), {.kind = DeedKind::server_start, .target = i});
      }
      return;
    case 1:
      for (int i = 0; i < world_.node_count(); ++i) cut_for(time, i, SimNetwork::Cut::both, 0);
      return;
    default:
      deeds_.now({.kind = DeedKind::store_down, .time = time});
  }
}

}  // namespace hai
