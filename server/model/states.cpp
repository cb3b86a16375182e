#include "server/model/states.h"

#include <array>
#include <initializer_list>
#include <utility>

#include "common/agent_messages.h"
#include "common/dependency.h"
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
                      {RankState::lost, "lost"},
                      {RankState::released, "released"}})
HAI_WORDS(Liveness,
          {{Liveness::up, "up"}, {Liveness::suspect, "suspect"}, {Liveness::down, "down"}})
HAI_WORDS(Scheduling, {{Scheduling::open, "open"},
                       {Scheduling::cordoned, "cordoned"},
                       {Scheduling::draining, "draining"},
                       {Scheduling::drained, "drained"}})
HAI_WORDS(Role, {{Role::user, "user"}, {Role::operator_, "operator"}, {Role::admin, "admin"}})
HAI_WORDS(TokenKind,
          {{TokenKind::api, "api"}, {TokenKind::session, "session"}, {TokenKind::join, "join"}})
HAI_WORDS(TokenScope, {{TokenScope::read, "read"},
                       {TokenScope::submit, "submit"},
                       {TokenScope::operate, "operate"},
                       {TokenScope::admin, "admin"}})
HAI_WORDS(RepairStep, {{RepairStep::none, "none"},
                       {RepairStep::emptying, "emptying"},
                       {RepairStep::validating, "validating"},
                       {RepairStep::repairing, "repairing"},
                       {RepairStep::bisecting, "bisecting"},
                       {RepairStep::service, "service"}})
HAI_WORDS(RepairAction, {{RepairAction::none, ""},
                         {RepairAction::reset_gpus, "reset_gpus"},
                         {RepairAction::reboot, "reboot"}})
HAI_WORDS(FaultAnswer, {{FaultAnswer::none, ""},
                        {FaultAnswer::noted, "noted"},
                        {FaultAnswer::validate, "validate"},
                        {FaultAnswer::drain, "drain"},
                        {FaultAnswer::evict, "evict"},
                        {FaultAnswer::hold, "hold"},
                        {FaultAnswer::mended, "mended"},
                        {FaultAnswer::accepted, "accepted"}})
HAI_WORDS(MarkKind, {{MarkKind::evict, "evict"},
                     {MarkKind::drain, "drain"},
                     {MarkKind::validate, "validate"},
                     {MarkKind::flash_cut, "flash_cut"},
                     {MarkKind::gang_failed, "gang_failed"},
                     {MarkKind::job_failed, "job_failed"},
                     {MarkKind::validation_failed, "validation_failed"},
                     {MarkKind::app_fault, "app_fault"},
                     {MarkKind::accepted, "accepted"},
                     {MarkKind::launch_failed, "launch_failed"}})
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

// Of the enums whose words stand beside them in common.
template <typename Enum>
std::optional<Enum> one_of(std::string_view text, std::initializer_list<Enum> values) {
  for (const Enum value : values) {
    if (to_string(value) == text) return value;
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

using R = RepairStep;
constexpr std::pair<R, R> kRepairTransitions[] = {
    {R::none, R::emptying},        {R::none, R::bisecting},      {R::emptying, R::none},
    {R::emptying, R::validating},  {R::emptying, R::repairing},  {R::emptying, R::service},
    {R::validating, R::none},      {R::validating, R::emptying}, {R::validating, R::repairing},
    {R::validating, R::service},   {R::repairing, R::none},      {R::repairing, R::emptying},
    {R::repairing, R::validating}, {R::repairing, R::service},   {R::bisecting, R::none},
    {R::bisecting, R::emptying},   {R::bisecting, R::service},   {R::service, R::none},
    {R::service, R::emptying},     {R::service, R::validating},
};

}  // namespace

std::string_view to_string(JobState state) { return word_of(state); }
std::string_view to_string(AttemptState state) { return word_of(state); }
std::string_view to_string(RankState state) { return word_of(state); }
std::string_view to_string(Liveness liveness) { return word_of(liveness); }
std::string_view to_string(Scheduling scheduling) { return word_of(scheduling); }
std::string_view to_string(Role role) { return word_of(role); }
std::string_view to_string(TokenKind kind) { return word_of(kind); }
std::string_view to_string(TokenScope scope) { return word_of(scope); }
std::string_view to_string(RepairStep step) { return word_of(step); }
std::string_view to_string(RepairAction action) { return word_of(action); }
std::string_view to_string(FaultAnswer answer) { return word_of(answer); }
std::string_view to_string(MarkKind kind) { return word_of(kind); }

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
std::optional<TokenKind> parse_enum(std::string_view text) {
  return value_of<TokenKind>(text);
}
template <>
std::optional<TokenScope> parse_enum(std::string_view text) {
  return value_of<TokenScope>(text);
}

template <>
std::optional<Priority> parse_enum(std::string_view text) {
  Result<Priority> priority = parse_priority(text);
  if (!priority.is_ok()) return std::nullopt;
  return priority.value();
}

template <>
std::optional<ExitCause> parse_enum(std::string_view text) {
  return one_of<ExitCause>(text, {ExitCause::none, ExitCause::program, ExitCause::go_suspend,
                                  ExitCause::grace_over, ExitCause::killed, ExitCause::fenced,
                                  ExitCause::launch_failed, ExitCause::lost, ExitCause::left});
}
template <>
std::optional<LaunchMode> parse_enum(std::string_view text) {
  return one_of<LaunchMode>(text, {LaunchMode::per_node, LaunchMode::per_gpu});
}
template <>
std::optional<EnvStyle> parse_enum(std::string_view text) {
  return one_of<EnvStyle>(text, {EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm});
}
template <>
std::optional<CrossZone> parse_enum(std::string_view text) {
  return one_of<CrossZone>(text, {CrossZone::allow, CrossZone::never});
}
template <>
std::optional<DependencyCondition> parse_enum(std::string_view text) {
  return one_of<DependencyCondition>(
      text,
      {DependencyCondition::afterok, DependencyCondition::afterany, DependencyCondition::afternotok,
       DependencyCondition::after, DependencyCondition::singleton, DependencyCondition::aftercorr});
}
template <>
std::optional<CheckVerdict> parse_enum(std::string_view text) {
  return one_of<CheckVerdict>(
      text, {CheckVerdict::ok, CheckVerdict::warn, CheckVerdict::fail, CheckVerdict::unknown});
}
template <>
std::optional<HealthTier> parse_enum(std::string_view text) {
  return one_of<HealthTier>(text, {HealthTier::log, HealthTier::app, HealthTier::validate,
                                   HealthTier::drain, HealthTier::evict});
}
template <>
std::optional<RepairStep> parse_enum(std::string_view text) {
  return value_of<RepairStep>(text);
}
template <>
std::optional<RepairAction> parse_enum(std::string_view text) {
  return value_of<RepairAction>(text);
}
template <>
std::optional<FaultAnswer> parse_enum(std::string_view text) {
  return value_of<FaultAnswer>(text);
}
// Until 2026-11 what a mark is about stood in the same text: "evict gpu_xid".
template <>
std::optional<MarkKind> parse_enum(std::string_view text) {
  return value_of<MarkKind>(text.substr(0, text.find(' ')));
}

bool is_terminal(JobState state) {
  return state == JobState::succeeded || state == JobState::failed || state == JobState::stopped;
}

bool is_terminal(AttemptState state) {
  return state == AttemptState::suspended || state == AttemptState::succeeded ||
         state == AttemptState::failed || state == AttemptState::stopped ||
         state == AttemptState::lost;
}

bool is_gone(RankState state) {
  return state == RankState::exited || state == RankState::lost || state == RankState::released;
}

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

bool may_follow(RepairStep from, RepairStep to) {
  if (from == to) return true;
  for (const auto& [a, b] : kRepairTransitions) {
    if (a == from && b == to) return true;
  }
  return false;
}

}  // namespace hai
