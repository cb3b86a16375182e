// Faults, the part about agents and their nodes.
//
// A node whose agent and shims stand still together (SIGSTOP to all, a frozen virtual machine) is
// no fault here: its ranks are fenced late, by as much as it stood still, and nobody outside can
// tell. Where that may happen a node needs a watchdog of its own (docs/operations/chaos-sim.md).

#include "sim/faults.h"

namespace hai {

void Faults::crash_agent() {
  const int index = some_node();
  now(DeedKind::agent_crash, index);
  start_agent_after(rng_.chance(0.7) ? between(100ms, 10s) : between(10s, 2min), index);
}

void Faults::crash_node() {
  const int index = some_node();
  now(DeedKind::node_crash, index);
  start_agent_after(rng_.chance(0.7) ? between(100ms, 10s) : between(10s, 2min), index);
}

void Faults::crash_shim() { now(DeedKind::shim_crash, some_node()); }

void Faults::pause_agent() {
  const Duration time = rng_.chance(0.5) ? between(100ms, 5s) : between(5s, 1min);
  deeds_.now({.kind = DeedKind::agent_pause, .target = some_node(), .time = time});
}

// As an upgrade does.
void Faults::restart_all_agents() {
  const Duration slowest = between(50ms, 10s);
  for (int i = 0; i < world_.node_count(); ++i) {
    if (!world_.agent_runs(i)) continue;
    now(DeedKind::agent_crash, i);
    start_agent_after(between(50ms, slowest), i);
  }
}

// A full or read-only disk.
void Faults::make_record_unwritable() {
  const int index = some_node();
  now(DeedKind::record_unwritable, index);
  deeds_.after(between(1s, 3min), {.kind = DeedKind::record_writable, .target = index});
  // Only the next agent would notice.
  if (rng_.chance(0.5)) {
    loop_.call_after(between(1s, 1min), [this, index] {
      now(DeedKind::agent_crash, index);
      start_agent_after(between(100ms, 10s), index);
    });
  }
}

// Beside a living agent, or of a machine that is gone: then the impostor gets the name in the end,
// and the node's own agent has to wait for it.
void Faults::start_impostor() {
  const int index = some_node();
  if (world_.impostor_runs(index)) return;
  const Duration time = rng_.chance(0.5) ? between(1s, 30s) : between(30s, 5min);
  deeds_.now({.kind = DeedKind::impostor, .target = index, .time = time});
  if (rng_.chance(0.7)) return;
  now(DeedKind::node_crash, index);
  start_agent_after(between(100ms, 3min), index);
}

void Faults::lose_record() {
  const int index = some_node();
  now(DeedKind::record_lost, index);
  if (rng_.chance(0.3)) return;
  now(DeedKind::agent_crash, index);
  start_agent_after(between(100ms, 10s), index);
}

}  // namespace hai
