#include "server/model/states.h"

#include <array>
#include <utility>

#include "common/agent_messages.h"
#include "common/health.h"
#include "common/job_spec.h"
#include "server/model/node_health.h"

namespace hai {
namespace {

template <typename Enum>
struct Words;

#define HAI_WORDS(Enum, ...)                                                                     \
  template <>                                                                                    \
  struct Words<Enum> {                                                                           \
    static constexpr auto table = std::to_array<std::pair<Enum, std::string_view>>(__VA_ARGS__); \
  };

HAI_WORDS(JobState, {{JobState::queued, "queued"},
                     {JobState::running, "running"},
                     {JobState::suspended, "suspended"},
                     {JobState::succeeded, "succeeded"},
                     {JobState::failed, "failed"},
                     {JobState::stopped, "stopped"}})
HAI_WORDS(AttemptState, {{AttemptState::placed, "placed"},
                         {AttemptState::starting, "starting"},
                         {AttemptState::running, "running"},
                         {AttemptState::suspending, "suspending"},
                         {AttemptState::suspended, "suspended"},
                         {AttemptState::succeeded, "succeeded"},
                         {AttemptState::failed, "failed"},
                         {AttemptState::stopped, "stopped"},
                         {AttemptState::lost, "lost"}})
HAI_WORDS(RankState, {{RankState::pending, "pending"},
                      {RankState::running, "running"},
                      {RankState::exited, "exited"},
                      {RankState::lost, "lost"}})
HAI_WORDS(Liveness,
          {{Liveness::up, "up"}, {Liveness::suspect, "suspect"}, {Liveness::down, "down"}})
HAI_WORDS(Scheduling, {{Scheduling::open, "open"},
                       {Scheduling::cordoned, "cordoned"},
                       {Scheduling::draining, "draining"},
                       {Scheduling::drained, "drained"}})
HAI_WORDS(Role, {{Role::user, "user"}, {Role::operator_, "operator"}, {Role::admin, "admin"}})
#undef HAI_WORDS

template <typename Enum>
std::string_view word_of(Enum value) {
  for (const auto& [candidate, word] : Words<Enum>::table) {
    if (candidate == value) return word;
  }
  return "unknown";
}

template <typename Enum>
std::optional<Enum> value_of(std::string_view text) {
  for (const auto& [candidate, word] : Words<Enum>::table) {
    if (word == text) return candidate;
  }
  return std::nullopt;
}

// Row = from, column = to.
using A = AttemptState;
constexpr std::pair<A, A> kAttemptTransitions[] = {
    {A::placed, A::starting},      {A::placed, A::running},       {A::placed, A::suspending},
    {A::placed, A::suspended},     {A::placed, A::failed},        {A::placed, A::stopped},
    {A::placed, A::lost},          {A::placed, A::succeeded},     {A::starting, A::running},
    {A::starting, A::suspending},  {A::starting, A::suspended},   {A::starting, A::failed},
    {A::starting, A::stopped},     {A::starting, A::lost},        {A::starting, A::succeeded},
    {A::running, A::suspending},   {A::running, A::suspended},    {A::running, A::succeeded},
    {A::running, A::failed},       {A::running, A::stopped},      {A::running, A::lost},
    {A::suspending, A::placed},    {A::suspending, A::starting},  {A::suspending, A::running},
    {A::suspending, A::suspended}, {A::suspending, A::succeeded}, {A::suspending, A::failed},
    {A::suspending, A::stopped},   {A::suspending, A::lost},
};

using J = JobState;
constexpr std::pair<J, J> kJobTransitions[] = {
    {J::queued, J::running},      {J::queued, J::suspended}, {J::queued, J::succeeded},
    {J::queued, J::failed},       {J::queued, J::stopped},   {J::running, J::suspended},
    {J::running, J::succeeded},   {J::running, J::failed},   {J::running, J::stopped},
    {J::suspended, J::running},   {J::suspended, J::failed}, {J::suspended, J::stopped},
    {J::suspended, J::succeeded},
};

}  // namespace

std::string_view to_string(JobState state) { return word_of(state); }
std::string_view to_string(AttemptState state) { return word_of(state); }
std::string_view to_string(RankState state) { return word_of(state); }
std::string_view to_string(Liveness liveness) { return word_of(liveness); }
std::string_view to_string(Scheduling scheduling) { return word_of(scheduling); }
std::string_view to_string(Role role) { return word_of(role); }

template <>
std::optional<JobState> parse_enum(std::string_view text) {
  return value_of<JobState>(text);
}
template <>
std::optional<AttemptState> parse_enum(std::string_view text) {
  return value_of<AttemptState>(text);
}
template <>
std::optional<RankState> parse_enum(std::string_view text) {
  return value_of<RankState>(text);
}
template <>
std::optional<Liveness> parse_enum(std::string_view text) {
  return value_of<Liveness>(text);
}
template <>
std::optional<Scheduling> parse_enum(std::string_view text) {
  return value_of<Scheduling>(text);
}
template <>
std::optional<Role> parse_enum(std::string_view text) {
  return value_of<Role>(text);
}

template <>
std::optional<Priority> parse_enum(std::string_view text) {
  Result<Priority> priority = parse_priority(text);
  if (!priority.is_ok()) return std::nullopt;
  return priority.value();
}

template <>
std::optional<ExitCause> parse_enum(std::string_view text) {
  for (ExitCause cause :
       {ExitCause::none, ExitCause::program, ExitCause::go_suspend, ExitCause::grace_over,
        ExitCause::killed, ExitCause::fenced, ExitCause::launch_failed, ExitCause::lost}) {
    if (to_string(cause) == text) return cause;
  }
  return std::nullopt;
}

template <>
std::optional<LaunchMode> parse_enum(std::string_view text) {
  for (LaunchMode mode : {LaunchMode::per_node, LaunchMode::per_gpu}) {
    if (to_string(mode) == text) return mode;
  }
  return std::nullopt;
}

template <>
std::optional<EnvStyle> parse_enum(std::string_view text) {
  for (EnvStyle style : {EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm}) {
    if (to_string(style) == text) return style;
  }
  return std::nullopt;
}

template <>
std::optional<CrossZone> parse_enum(std::string_view text) {
  for (CrossZone value : {CrossZone::allow, CrossZone::never}) {
    if (to_string(value) == text) return value;
  }
  return std::nullopt;
}

template <>
std::optional<CheckVerdict> parse_enum(std::string_view text) {
  for (CheckVerdict verdict :
       {CheckVerdict::ok, CheckVerdict::warn, CheckVerdict::fail, CheckVerdict::unknown}) {
    if (to_string(verdict) == text) return verdict;
  }
  return std::nullopt;
}

template <>
std::optional<HealthTier> parse_enum(std::string_view text) {
  for (HealthTier tier : {HealthTier::log, HealthTier::app, HealthTier::validate, HealthTier::drain,
                          HealthTier::evict}) {
    if (to_string(tier) == text) return tier;
  }
  return std::nullopt;
}

template <>
std::optional<RepairStep> parse_enum(std::string_view text) {
  for (RepairStep step : {RepairStep::none, RepairStep::emptying, RepairStep::validating,
                          RepairStep::repairing, RepairStep::bisecting, RepairStep::service}) {
    if (to_string(step) == text) return step;
  }
  return std::nullopt;
}

bool is_terminal(JobState state) {
  return state == JobState::succeeded || state == JobState::failed || state == JobState::stopped;
}

bool is_terminal(AttemptState state) {
  return state == AttemptState::suspended || state == AttemptState::succeeded ||
         state == AttemptState::failed || state == AttemptState::stopped ||
         state == AttemptState::lost;
}

bool is_gone(RankState state) { return state == RankState::exited || state == RankState::lost; }

bool may_follow(JobState from, JobState to) {
  for (const auto& [a, b] : kJobTransitions) {
    if (a == from && b == to) return true;
  }
  return false;
}

bool may_follow(AttemptState from, AttemptState to) {
  for (const auto& [a, b] : kAttemptTransitions) {
    if (a == from && b == to) return true;
  }
  return false;
}

}  // namespace hai
