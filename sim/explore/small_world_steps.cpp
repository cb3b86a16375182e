// SmallWorld, the part about choices: which there are, what they do, and their words.

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "sim/explore/small_world.h"

namespace hai {
namespace {

using Kind = Step::Kind;
constexpr Duration kLong = 10'000h;  // a pause ends by a step

std::string words_of(const AgentReport& report) {
  std::string text = fmt::format("report {} of {}", report.sequence, report.node);
  text += report.is_news_only ? ", news only" : ", asks for a lease";
  for (const RankStatus& status : report.ranks) {
    text += fmt::format(", {} {}", to_string(status.key), to_string(status.phase));
    if (status.phase == RankPhase::exited) text += fmt::format(" ({})", to_string(status.cause));
  }
  return text;
}

struct OrderWords {
  std::string operator()(const LaunchRank& order) const { return "launch " + to_string(order.key); }
  std::string operator()(const SuspendRank& order) const {
    return "suspend " + to_string(order.key);
  }
  std::string operator()(const ContinueRank& order) const {
    return "continue " + to_string(order.key);
  }
  std::string operator()(const KillRank& order) const { return "kill " + to_string(order.key); }
  std::string operator()(const ForgetRank& order) const { return "forget " + to_string(order.key); }
  std::string operator()(const GrantLease& order) const {
    return fmt::format("grant for report {}", order.report_sequence);
  }
  std::string operator()(const NamePeers& order) const {
    return fmt::format("list {} of peers", order.version);
  }
  std::string operator()(const RunHook&) const { return "run a hook"; }
  std::string operator()(const ClearFault&) const { return "clear a fault"; }
  std::string operator()(const RefuseAgent& order) const { return "refusal: " + order.reason; }
};

std::string words_of(const WireMessage& message, const Wire& wire) {
  const std::string& node = wire.names[message.node];
  switch (message.kind) {
    case WireMessage::Kind::report:
      return words_of(message.report);
    case WireMessage::Kind::order:
      return fmt::format("order to {} (epoch {}): {}", node, message.order.epoch.value,
                         std::visit(OrderWords{}, message.order.body));
    case WireMessage::Kind::question:
      return fmt::format("question of {} to {}", node, wire.names[message.peer]);
    case WireMessage::Kind::answer:
      return fmt::format("answer of {} to {}: {}", wire.names[message.peer], node,
                         to_string(message.answer));
  }
  return "";
}

}  // namespace

// What was put off as long as it may be happens before time passes.
bool SmallWorld::must_act_first() const {
  const auto is_late = [&](const WireMessage& held) {
    return is_overdue(held.sent_at, model_.late_max) && wire_.can_arrive_now(held);
  };
  if (std::ranges::any_of(wire_.held, is_late)) return true;
  for (const Server& server : servers_) {
    if (server.is_paused() && is_overdue(server.paused_at, model_.pause_max)) return true;
  }
  for (int i = 0; i < model_.nodes; ++i) {
    const Node& node = *nodes_[i];
    if (node.loop->is_paused() && is_overdue(node.paused_at, model_.pause_max)) return true;
    if (wire_.agents[i].is_cut && is_overdue(node.cut_at, model_.pause_max)) return true;
    if (wire_.agents[i].is_parted && is_overdue(node.parted_at, model_.pause_max)) return true;
  }
  return false;
}

std::vector<Step> SmallWorld::steps() const {
  if (is_over()) return {};
  if (is_calm()) return {{Kind::pass_time}};
  std::vector<Step> steps;
  const bool is_bounded = job() != nullptr && job()->attempt_number() > model_.attempts;
  if (is_bounded) return {{Kind::calm}};
  if (wire_.first() != nullptr) {
    add_message_steps(steps);
    return steps;
  }
  const bool is_quiet = wire_.held.empty() && budget_.is_spent();
  bool is_healthy = true;
  for (const Server& server : servers_) is_healthy &= server.loop != nullptr && !server.is_paused();
  for (int i = 0; i < model_.nodes; ++i) {
    is_healthy &=
        !nodes_[i]->loop->is_paused() && !wire_.agents[i].is_cut && !wire_.agents[i].is_parted;
  }
  const bool is_on_grid = now().time_since_epoch() % model_.fault_grid == Duration{0};
  if (is_quiet && is_healthy && is_on_grid) return {{Kind::calm}};
  if (!must_act_first()) steps.push_back({Kind::pass_time});
  for (size_t i = 0; i < wire_.held.size(); ++i) {
    if (wire_.can_arrive_now(wire_.held[i])) steps.push_back({Kind::release, uint8_t(i)});
  }
  if (!is_on_grid) return steps;
  add_ends(steps);
  add_faults(steps);
  if (wire_.held.empty()) steps.push_back({Kind::calm});
  return steps;
}

void SmallWorld::add_message_steps(std::vector<Step>& steps) const {
  steps.push_back({Kind::deliver});
  if (budget_.has(Fault::hold)) steps.push_back({Kind::hold});
  if (budget_.has(Fault::lose)) steps.push_back({Kind::lose});
  if (budget_.has(Fault::repeat)) steps.push_back({Kind::repeat});
  for (size_t i = 0; i < wire_.held.size(); ++i) {
    if (wire_.can_arrive_now(wire_.held[i])) steps.push_back({Kind::release, uint8_t(i)});
  }
}

// What stands and can be ended.
void SmallWorld::add_ends(std::vector<Step>& steps) const {
  for (int i = 0; i < model_.servers; ++i) {
    if (servers_[i].loop == nullptr) steps.push_back({Kind::start_server, uint8_t(i)});
    if (servers_[i].is_paused()) steps.push_back({Kind::wake_server, uint8_t(i)});
  }
  for (int i = 0; i < model_.nodes; ++i) {
    if (nodes_[i]->loop->is_paused()) steps.push_back({Kind::wake_agent, uint8_t(i)});
    if (wire_.agents[i].is_cut) steps.push_back({Kind::mend, uint8_t(i)});
    if (wire_.agents[i].is_parted) steps.push_back({Kind::join, uint8_t(i)});
  }
}

void SmallWorld::add_faults(std::vector<Step>& steps) const {
  for (int i = 0; i < model_.nodes; ++i) add_node_faults(steps, i);
  for (int i = 0; i < model_.servers; ++i) add_server_faults(steps, i);
  if (budget_.has(Fault::stop_job) && leader() != nullptr && job() != nullptr &&
      !job()->is_terminal() && !job()->stop_requested) {
    steps.push_back({Kind::stop_job});
  }
}

void SmallWorld::add_node_faults(std::vector<Step>& steps, int index) const {
  const uint8_t which = uint8_t(index);
  const Node& node = *nodes_[index];
  const bool is_paused = node.loop->is_paused();
  if (budget_.has(Fault::pause_agent) && !is_paused) steps.push_back({Kind::pause_agent, which});
  if (budget_.has(Fault::restart_agent) && !is_paused)
    steps.push_back({Kind::restart_agent, which});
  if (budget_.has(Fault::cut) && !wire_.agents[index].is_cut) steps.push_back({Kind::cut, which});
  if (budget_.has(Fault::part) && !wire_.agents[index].is_parted)
    steps.push_back({Kind::part, which});
  if (budget_.has(Fault::break_stream) && wire_.has_stream(index))
    steps.push_back({Kind::break_stream, which});
  if (budget_.has(Fault::slip_clock)) steps.push_back({Kind::slip_clock, which});
  bool runs = false;
  node.machine->each_rank(
      [&](const RankStatus& status, MonoTime) { runs |= status.phase == RankPhase::running; });
  if (budget_.has(Fault::end_program) && runs) steps.push_back({Kind::end_program, which});
}

// Of a server that does not lead no fault is interesting: it has nothing to lose but its turn.
void SmallWorld::add_server_faults(std::vector<Step>& steps, int index) const {
  const Server& server = servers_[index];
  if (server.controller == nullptr || server.is_paused() || !server.controller->is_leading())
    return;
  const uint8_t which = uint8_t(index);
  if (budget_.has(Fault::pause_server)) steps.push_back({Kind::pause_server, which});
  if (budget_.has(Fault::crash_server)) steps.push_back({Kind::crash_server, which});
}

void SmallWorld::take(Step step) {
  if (listener_ != nullptr) tell(">> " + describe(step));
  switch (step.kind) {
    case Kind::pass_time:
      pass_time();
      if (is_calm()) {
        end_programs_that_run();
        if (is_overdue(*calm_since_, model_.liveness_max)) fail("liveness: " + stuck());
      }
      break;
    case Kind::calm:
      calm_down();
      break;
    case Kind::stop_job:
      budget_.spend(Fault::stop_job);
      const_cast<Controller*>(leader())->submit({.trusted_user = "ann"}, StopJob{"1", "no more"},
                                                [](Result<CommandReply>) {});
      break;
    case Kind::deliver:
    case Kind::hold:
    case Kind::lose:
    case Kind::repeat:
    case Kind::release:
      take_message_step(step);
      break;
    case Kind::pause_server:
    case Kind::wake_server:
    case Kind::crash_server:
    case Kind::start_server:
      take_server_step(step);
      break;
    default:
      take_node_step(step);
  }
  settle();
  watch_fences();
}

void SmallWorld::take_message_step(Step step) {
  if (step.kind == Kind::release) {
    const WireMessage message = std::move(wire_.held[step.which]);
    wire_.held.erase(wire_.held.begin() + step.which);
    return wire_.deliver(message);
  }
  WireMessage message = wire_.take_first();
  if (step.kind == Kind::deliver || step.kind == Kind::repeat) wire_.deliver(message);
  if (step.kind == Kind::lose) return budget_.spend(Fault::lose);
  if (step.kind == Kind::deliver) return;
  budget_.spend(step.kind == Kind::hold ? Fault::hold : Fault::repeat);
  wire_.held.push_back(std::move(message));
}

void SmallWorld::take_server_step(Step step) {
  Server& server = servers_[step.which];
  if (step.kind == Kind::pause_server) {
    budget_.spend(Fault::pause_server);
    server.paused_at = now();
    server.loop->pause(kLong);
    wire_.watch_pause(step.which);
  } else if (step.kind == Kind::wake_server) {
    server.loop->resume();
  } else if (step.kind == Kind::crash_server) {
    budget_.spend(Fault::crash_server);
    crash_server(step.which);
  } else {
    start_server(step.which);
  }
}

void SmallWorld::take_node_step(Step step) {
  const int index = step.which;
  Node& node = *nodes_[index];
  Wire::AgentEnd& end = wire_.agents[index];
  switch (step.kind) {
    case Kind::pause_agent:
      budget_.spend(Fault::pause_agent);
      node.paused_at = now();
      return node.loop->pause(kLong);
    case Kind::wake_agent:
      return node.loop->resume();
    case Kind::restart_agent:
      budget_.spend(Fault::restart_agent);
      crash_agent(index);
      return start_agent(index);
    case Kind::cut:
      budget_.spend(Fault::cut);
      node.cut_at = now();
      end.is_cut = true;
      return wire_.watch_cut(index);
    case Kind::mend:
      end.is_cut = false;
      return;
    case Kind::part:
      budget_.spend(Fault::part);
      node.parted_at = now();
      end.is_parted = true;
      return;
    case Kind::join:
      end.is_parted = false;
      return;
    case Kind::break_stream:
      budget_.spend(Fault::break_stream);
      return wire_.break_stream(index);
    case Kind::slip_clock:
      budget_.spend(Fault::slip_clock);
      node.clock.slipped += model_.slip;
      node.loop->postpone(model_.slip);
      return node.machine->postpone(model_.slip);
    case Kind::end_program: {
      budget_.spend(Fault::end_program);
      std::optional<RankKey> running;
      node.machine->each_rank([&](const RankStatus& status, MonoTime) {
        if (status.phase == RankPhase::running) running = status.key;
      });
      return node.machine->end_program(*running, 0);
    }
    default:
      CHECK(false);
  }
}

std::string SmallWorld::describe(Step step) const {
  const auto node = [&] { return wire_.names[step.which]; };
  const auto server = [&] { return fmt::format("server-{}", step.which + 1); };
  const auto first = [&] { return words_of(*wire_.first(), wire_); };
  switch (step.kind) {
    case Kind::deliver:
      return first() + " arrives";
    case Kind::hold:
      return first() + " IS LATE";
    case Kind::lose:
      return first() + " IS LOST";
    case Kind::repeat:
      return first() + " arrives, AND WILL ARRIVE AGAIN";
    case Kind::release:
      return "LATE ARRIVES " + words_of(wire_.held[step.which], wire_);
    case Kind::pass_time:
      return "time passes";
    case Kind::pause_agent:
      return "the agent of " + node() + " STANDS STILL";
    case Kind::wake_agent:
      return "the agent of " + node() + " goes on";
    case Kind::restart_agent:
      return "the agent of " + node() + " IS KILLED and starts again";
    case Kind::cut:
      return node() + " IS CUT OFF from the servers";
    case Kind::mend:
      return node() + " reaches the servers again";
    case Kind::part:
      return node() + " IS CUT OFF from its peers";
    case Kind::join:
      return node() + " reaches its peers again";
    case Kind::break_stream:
      return "the stream of " + node() + " BREAKS";
    case Kind::pause_server:
      return server() + " STANDS STILL";
    case Kind::wake_server:
      return server() + " goes on";
    case Kind::crash_server:
      return server() + " IS KILLED";
    case Kind::start_server:
      return server() + " starts";
    case Kind::slip_clock:
      return "the clock of " + node() + " LOSES " + format_duration(model_.slip);
    case Kind::stop_job:
      return "the user STOPS THE JOB";
    case Kind::end_program:
      return "a program on " + node() + " ENDS";
    case Kind::calm:
      return "everything is healed, and stays so";
  }
  return "";
}

std::string SmallWorld::stuck() const {
  const Controller* leading = leader();
  if (leading == nullptr) return "no server leads";
  const Job* stuck_job = job();
  std::string text = fmt::format("job is {}, attempt {} {}", to_string(stuck_job->state),
                                 stuck_job->attempt_number(),
                                 stuck_job->attempt ? to_string(stuck_job->attempt->state) : "");
  for (const auto& [id, node] : leading->state().nodes()) {
    text +=
        fmt::format("; {} {} {}", node.facts.name, to_string(node.liveness), node.liveness_reason);
  }
  return text + fmt::format("; {} processes", checkers_.live_processes());
}

}  // namespace hai
