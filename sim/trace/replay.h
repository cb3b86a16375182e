#pragma once
// Replays a trace: the production controller and a planner on a fleet in virtual time, every job
// submitted when the trace says. The same inputs give the same digest on every machine.

#include <functional>
#include <memory>
#include <string>

#include "common/knobs.h"
#include "sim/trace/failures_file.h"
#include "sim/trace/fleet.h"
#include "sim/trace/measured_planner.h"
#include "sim/trace/meter.h"

namespace hai {

struct ReplayOptions {
  FleetOptions fleet;
  Knobs knobs;
  // Made when the fleet stands, so that a baseline may ask it for true durations.
  std::function<std::unique_ptr<Planner>(const Fleet&)> make_planner;
  // Called every now and then; may be empty.
  std::function<void(const Meter&, Duration virtual_time)> progress;
  // Gets all events, in order; may be empty.
  std::function<void(const std::vector<Event>&)> on_events;
};

struct ReplayResult {
  Measures measures;
  Series series;
  PlanTimes plan;
  int64_t refused = 0;  // submits that the server did not take
  std::string first_refusal;
  bool is_stuck = false;  // nothing has run for long: the jobs that are left can't
};

// The knobs of a replay: leases and heartbeats are far away, as nothing here can be cut off.
Knobs replay_knobs();
// Whether a knob has a meaning in a replay.
bool is_replay_knob(const std::string& name);

ReplayResult replay(const TraceCluster& cluster, const Trace& trace, Failures failures,
                    const ReplayOptions& options);

}  // namespace hai
