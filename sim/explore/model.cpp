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
          .about = "a lease, its grants, launches and late messages around an agent that stood still",
          .servers = 1,
          .knobs = small_knobs(),
          .budget = budget_of({{Fault::hold, 2}, {Fault::pause_agent, 1}})};
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
  static const std::vector<Model> models = {lease()};
  return models;
}

}  // namespace hai
