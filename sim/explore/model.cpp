#include "sim/explore/model.h"

namespace hai {
namespace {

using Faults = std::initializer_list<std::pair<Fault, int>>;

Budget budget_of(Faults faults) {
  Budget budget;
  for (const auto& [fault, count] : faults) budget.set(fault, count);
  return budget;
}

Model lease() {
  return {.name = "lease",
          .about = "late messages around an agent that stood still: leases, grants, launches",
          .servers = 1,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::hold, 2}, {Fault::pause_agent, 1}})};
}

Model fence() {
  return {
      .name = "fence",
      .about = "a node cut off from the servers, one from its peers: fences and the peers' vote",
      .servers = 1,
      .roomy_nodes = 2,
      .stagger = 2s,
      .knobs = small_knobs(),
      .budget = budget_of({{Fault::cut, 1}, {Fault::part, 1}})};
}

Model mute() {
  return {.name = "mute",
          .about = "a node cut off from the servers while an agent stands still",
          .servers = 1,
          .roomy_nodes = 2,
          .stagger = 2s,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::cut, 1}, {Fault::pause_agent, 1}})};
}

Model headless() {
  return {.name = "headless",
          .about = "nobody leads for a while: leases end, peers ask each other, ranks run on",
          .roomy_nodes = 2,
          .stagger = 2s,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::crash_server, 1}, {Fault::part, 1}})};
}

Model epochs() {
  return {
      .name = "epochs",
      .about = "take-overs: a leader that stood still, agents that start again, late orders",
      .knobs = small_knobs(),
      .budget = budget_of({{Fault::pause_server, 1}, {Fault::restart_agent, 1}, {Fault::hold, 1}})};
}

Model forget() {
  return {.name = "forget",
          .about = "ends: programs, stops, what is forgotten, and launches that come again",
          .servers = 1,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::end_program, 1},
                               {Fault::stop_job, 1},
                               {Fault::repeat, 1},
                               {Fault::break_stream, 1}})};
}

Model gang() {
  return {.name = "gang",
          .about = "two ranks on three nodes: late messages around an agent that stood still",
          .servers = 1,
          .roomy_nodes = 3,
          .ranks = 2,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::hold, 1}, {Fault::pause_agent, 1}})};
}

Model clock() {
  return {.name = "clock",
          .about = "clocks that lose seconds while nodes are cut off",
          .roomy_nodes = 2,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::slip_clock, 2}, {Fault::cut, 1}})};
}

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::hold:
      return "hold";
    case Fault::lose:
      return "lose";
    case Fault::repeat:
      return "repeat";
    case Fault::pause_agent:
      return "pause_agent";
    case Fault::restart_agent:
      return "restart_agent";
    case Fault::cut:
      return "cut";
    case Fault::part:
      return "part";
    case Fault::break_stream:
      return "break_stream";
    case Fault::pause_server:
      return "pause_server";
    case Fault::crash_server:
      return "crash_server";
    case Fault::slip_clock:
      return "slip_clock";
    case Fault::stop_job:
      return "stop_job";
    case Fault::end_program:
      return "end_program";
  }
  return "";
}

Knobs small_knobs() {
  Knobs knobs;
  knobs.heartbeat = 4s;
  knobs.agent_lease = 12s;
  knobs.down_after = 20s;
  knobs.server_lease = 16s;
  knobs.resend_after = 3s;
  knobs.launch_timeout = 30s;
  knobs.plan_period = 2s;
  knobs.plan_gap = 0s;
  knobs.validate_period = 0s;
  knobs.lemon_score = 0;
  knobs.policy = Policy::fifo;
  return knobs;
}

const std::vector<Model>& known_models() {
  static const std::vector<Model> models = {lease(),    gang(),  fence(),  mute(),
                                            headless(), clock(), forget(), epochs()};
  return models;
}

}  // namespace hai
