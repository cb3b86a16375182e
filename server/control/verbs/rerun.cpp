// A job again: a new one with the spec of the old one, whatever became of that. Jobs that wait for
// the old one in vain wait for the new one.

#include "server/control/verbs/rerun.h"

#include "server/control/verbs/dependencies.h"

namespace hai {
namespace {

constexpr size_t kNameBytesMax = 255;  // as check_job_spec has it
constexpr int kNamesTried = 1'000;

// train, train-2, train-3, …
std::string free_name(const ClusterState& state, const std::string& user, const std::string& name) {
  if (state.find_unfinished(user, name) == nullptr) return name;
  for (int i = 2; i < kNamesTried; ++i) {
    const std::string end = fmt::format("-{}", i);
    std::string next = name.substr(0, kNameBytesMax - end.size()) + end;
    if (state.find_unfinished(user, next) == nullptr) return next;
  }
  return name;  // the submit says that it is taken
}

}  // namespace

JobSpec spec_to_rerun(const ClusterState& state, const Job& old) {
  JobSpec spec = *old.spec;
  spec.priority = old.priority;
  spec.depends_on.clear();
  if (old.array_task) spec.array = std::to_string(old.array_task->index);  // it keeps its index
  for (const Dependency& each : old.unmet_dependencies) {
    if (each.condition == DependencyCondition::singleton) continue;
    // What it waited for in vain may have been run again since.
    const JobId newest = state.newest_rerun_of(each.job);
    spec.depends_on.push_back(format_dependency({each.condition, std::to_string(newest.value)}));
  }
  for (const std::string& word : old.spec->depends_on) {
    if (word == to_string(DependencyCondition::singleton)) spec.depends_on.push_back(word);
  }
  return spec;
}

Result<CommandReply> decide(Decision& decision, const RerunJob& command, const Actor& actor) {
  const ClusterState& state = decision.state();
  const Job* newer = state.find(command.old->id);
  const Job& old = newer == nullptr ? *command.old : *newer;
  if (old.spec->is_validation) {
    return failed_precondition("job {} is a validation; `hai validate NODE` makes a new one",
                               shown_id(old));
  }
  if (old.user != actor.user && !actor.is_operator()) {
    return permission_denied("job {} belongs to {}", shown_id(old), old.user);
  }
  const User* owner = state.find_user(old.user);
  if (owner == nullptr || !owner->active) {
    return failed_precondition("job {} belongs to {}, who is not active", shown_id(old), old.user);
  }
  SubmitJob submit{spec_to_rerun(state, old), command.request_id, command.history, old.id};
  if (!command.name.empty()) {
    submit.spec.name = command.name;
  } else if (is_singleton(submit.spec)) {
    // Keeps its name, by which it waits for its like.
  } else if (command.request_id.empty() ||
             !state.find_request(old.user, command.request_id).has_value()) {
    submit.spec.name = free_name(state, old.user, submit.spec.name);
  }
  // With the rights, quota and secrets of whose job it is, also if an operator asks.
  Result<CommandReply> reply = decide(decision, submit, Actor{old.user});
  if (!reply.is_ok()) return reply;
  if (reply.value().message == "queued") {
    reply.value().message = fmt::format("queued, as job {} was", shown_id(old));
  }
  return reply;
}

}  // namespace hai
