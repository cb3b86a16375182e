// Of a job that was submitted: its time limit and tags at any time, what its placement depends on
// only while it waits.

#include "server/control/verbs/submit.h"

namespace hai {
namespace {

Status check_waits(const Job& job, const EditJob& command) {
  const bool needs_wait = command.node_count || command.priority || command.begin_at;
  if (!needs_wait || !job.has_live_attempt()) return ok();
  return failed_precondition(
      "job {} runs: its {} can change only while it waits; `hai requeue {}` makes it wait, and "
      "time limit and tags can change at any time",
      shown_id(job),
      command.node_count ? "nodes"
      : command.priority ? "priority"
                         : "begin time",
      shown_id(job));
}

std::string changes_text(const EditJob& command) {
  std::string text;
  const auto add = [&](const std::string& change) { text += (text.empty() ? "" : ", ") + change; };
  if (command.timeout) {
    add(*command.timeout == Duration(0) ? "no time limit"
                                        : "time limit " + format_duration(*command.timeout));
  }
  if (command.node_count)
    add(fmt::format("{} node{}", *command.node_count, *command.node_count == 1 ? "" : "s"));
  if (command.priority) add(fmt::format("priority {}", to_string(*command.priority)));
  if (command.begin_at) {
    add(*command.begin_at == UnixTime{} ? "begins at once"
                                        : "begins at " + format_rfc3339(*command.begin_at));
  }
  if (command.tags) add(command.tags->empty() ? "no tags" : "its tags");
  return text;
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const EditJob& command, const Actor& actor) {
  const ClusterState& state = decision.state();
  Result<const Job*> found = find_controllable(state, actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  if (job.is_terminal()) {
    return failed_precondition("job {} has {}; `hai rerun {}` runs it again", shown_id(job),
                               to_string(job.state), shown_id(job));
  }
  const std::string changes = changes_text(command);
  if (changes.empty()) return invalid_argument("say what is to change of job {}", shown_id(job));
  if (job.spec->is_validation) {
    return failed_precondition("job {} is a validation of the platform's", shown_id(job));
  }
  if (job.is_array()) {
    return failed_precondition(
        "job {} is an array: edit its tasks, as {}_3; `hai priority` is for all of them",
        shown_id(job), shown_id(job));
  }
  RETURN_IF_ERROR(check_waits(job, command));
  JobSpec spec = *job.spec;
  if (command.node_count) spec.node_count = *command.node_count;
  if (command.node_count) {
    RETURN_IF_ERROR(check_room(state, spec));
    RETURN_IF_ERROR(check_interactive(state, decision.knobs(), job.user, spec, job.id));
  }
  if (command.node_count || command.priority) {
    const User* owner = state.find_user(job.user);
    if (owner == nullptr) return failed_precondition("user {} is not known", job.user);
    RETURN_IF_ERROR(check_quota(state, *owner, spec, command.priority.value_or(job.priority)));
  }
  const JobId id = job.id;
  if (job.reservation && (command.node_count || command.priority || command.begin_at)) {
    decision.emit(ReservationDropped{id, "it was edited"});
  }
  if (command.priority && job.priority != *command.priority) {
    decision.emit(JobPriorityChanged{id, *command.priority});
  }
  if (command.timeout || command.tags || command.node_count || command.begin_at) {
    decision.emit(
        JobEdited{id, command.timeout, command.tags, command.node_count, command.begin_at});
  }
  return CommandReply{id, job.spec->name, changes};
}

}  // namespace hai
