#include "common/agent_messages.h"

#include <algorithm>

#include "common/ascii.h"

namespace hai {

AgentIdentity identity_of(const NodeFacts& facts) {
  return {.instance = facts.instance,
          .machine = facts.machine,
          .boot_id = facts.boot_id,
          .address = facts.address};
}

bool is_rank_metric_name(std::string_view name) {
  constexpr size_t kBytesMax = 40;
  return !name.empty() && name.size() <= kBytesMax && std::ranges::all_of(name, [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_./-").find(c) != std::string_view::npos;
  });
}

std::string_view to_string(RankPhase phase) {
  switch (phase) {
    case RankPhase::starting:
      return "starting";
    case RankPhase::running:
      return "running";
    case RankPhase::exited:
      return "exited";
  }
  return "unknown";
}

std::string_view to_string(ExitCause cause) {
  switch (cause) {
    case ExitCause::none:
      return "none";
    case ExitCause::program:
      return "program";
    case ExitCause::go_suspend:
      return "go_suspend";
    case ExitCause::grace_over:
      return "grace_over";
    case ExitCause::killed:
      return "killed";
    case ExitCause::fenced:
      return "fenced";
    case ExitCause::launch_failed:
      return "launch_failed";
    case ExitCause::left:
      return "left";
    case ExitCause::lost:
      return "lost";
  }
  return "unknown";
}

std::string_view to_string(HookAction action) {
  switch (action) {
    case HookAction::reset_gpus:
      return "reset_gpus";
    case HookAction::reboot:
      return "reboot";
  }
  return "unknown";
}

std::string_view to_string(LeaseAnswer answer) {
  switch (answer) {
    case LeaseAnswer::unknown:
      return "unknown";
    case LeaseAnswer::alive:
      return "alive";
    case LeaseAnswer::dead:
      return "dead";
  }
  return "unknown";
}

}  // namespace hai
