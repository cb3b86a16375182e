// Faults, the part about agents and their nodes.
//
// A node whose agent and shims stand still together (SIGSTOP to all, a frozen virtual machine) is
// no fault here: its ranks are fenced late, by as much as it stood still, and nobody outside can
// tell. Where that may happen a node needs a watchdog of its own (docs/operations/chaos-sim.md).

#include "sim/faults.h"

namespace hai {

void Faults::crash_agent() {
  const int index = some_node();
  if (world_.agent_runs(index)) world_.crash_agent(index);
  start_agent_after(rng_.chance(0.7) ? between(100ms, 10s) : between(10s, 2min), index);
}

void Faults::crash_node() {
  const int index = some_node();
  world_.crash_node(index);
  start_agent_after(rng_.chance(0.7) ? between(100ms, 10s) : between(10s, 2min), index);
}

void Faults::start_agent_after(Duration delay, int index) {
  loop_.call_after(delay, [this, index] {
    if (!world_.agent_runs(index)) world_.start_agent(index);
  });
}

void Faults::crash_shim() { world_.node(some_node()).crash_one_shim(); }

void Faults::pause_agent() {
  const Duration time = rng_.chance(0.5) ? between(100ms, 5s) : between(5s, 1min);
  world_.pause_agent(some_node(), time);
}

// As an upgrade does.
void Faults::restart_all_agents() {
  const Duration slowest = between(50ms, 10s);
  for (int i = 0; i < world_.node_count(); ++i) {
    if (!world_.agent_runs(i)) continue;
    world_.crash_agent(i);
    start_agent_after(between(50ms, slowest), i);
  }
}

// A full or read-only disk.
void Faults::make_record_unwritable() {
  const int index = some_node();
  world_.node(index).record_is_writable = false;
  loop_.call_after(between(1s, 3min),
                   [this, index] { world_.node(index).record_is_writable = true; });
  // Only the next agent would notice.
  if (rng_.chance(0.5)) {
    loop_.call_after(between(1s, 1min), [this, index] {
      if (world_.agent_runs(index)) world_.crash_agent(index);
      start_agent_after(between(100ms, 10s), index);
    });
  }
}

// Beside a living agent, or of a machine that is gone: then the impostor gets the name in the end,
// and the node's own agent has to wait for it.
void Faults::start_impostor() {
  const int index = some_node();
  if (world_.impostor_runs(index)) return;
  world_.start_impostor(index);
  loop_.call_after(rng_.chance(0.5) ? between(1s, 30s) : between(30s, 5min), [this, index] {
    if (world_.impostor_runs(index)) world_.stop_impostor(index);
  });
  if (rng_.chance(0.7)) return;
  world_.crash_node(index);
  start_agent_after(between(100ms, 3min), index);
}

void Faults::lose_record() {
  const int index = some_node();
  world_.node(index).record.reset();
  if (rng_.chance(0.3)) return;
  if (world_.agent_runs(index)) world_.crash_agent(index);
  start_agent_after(between(100ms, 10s), index);
}

}  // namespace hai
