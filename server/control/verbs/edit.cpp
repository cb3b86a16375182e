// Of a job that was submitted: its time limit and tags at any time, what its placement depends on
// only while it waits.

#include "common/count_of.h"
#include "server/control/attempt/array_flow.h"
#include "server/control/verbs/submit.h"

namespace hai {
namespace {

bool needs_wait(const EditJob& command) {
  return command.node_count || command.priority || command.begin_at;
}

Status check_waits(const Job& job, const EditJob& command) {
  if (!needs_wait(command) || !job.has_live_attempt()) return ok();
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
  if (command.node_count) add(count_of(*command.node_count, "node"));
  if (command.priority) add(fmt::format("priority {}", to_string(*command.priority)));
  if (command.begin_at) {
    add(*command.begin_at == UnixTime{} ? "begins at once"
                                        : "begins at " + format_rfc3339(*command.begin_at));
  }
  if (command.array_limit) {
    add(*command.array_limit == 0 ? "any number of tasks at once"
                                  : count_of(*command.array_limit, "task") + " at once");
  }
  if (command.tags) add(command.tags->empty() ? "no tags" : "its tags");
  return text;
}

Status check_edit(const Decision& decision, const Meant& meant, const EditJob& command) {
  const ClusterState& state = decision.state();
  const Job& job = *meant.job;
  if (job.is_terminal()) {
    return failed_precondition("job {} has {}; `hai rerun {}` runs it again", shown_id(job),
                               to_string(job.state), shown_id(job));
  }
  if (changes_text(command).empty()) {
    return invalid_argument("say what is to change of job {}", shown_id(job));
  }
  if (job.spec->is_validation) {
    return failed_precondition("job {} is a validation of the platform's", shown_id(job));
  }
  if (command.array_limit && (meant.task || !job.is_array())) {
    return failed_precondition("array_limit: job {} is no array, which alone has such a limit",
                               command.job);
  }
  RETURN_IF_ERROR(check_waits(job, command));
  JobSpec spec = *job.spec;
  if (command.node_count) {
    spec.node_count = *command.node_count;
    RETURN_IF_ERROR(check_room(state, spec));
    RETURN_IF_ERROR(check_interactive(state, decision.knobs(), job.user, spec, job.id));
  }
  if (command.node_count || command.priority) {
    const User* owner = state.find_user(job.user);
    if (owner == nullptr) return failed_precondition("user {} is not known", job.user);
    RETURN_IF_ERROR(check_quota(state, *owner, spec, command.priority.value_or(job.priority)));
  }
  return check_may_make(decision, meant);
}

// All of its unfinished tasks are stored anew with it, each with its whole spec.
Status check_size(const ClusterState& state, const Job& array, const EditJob& command) {
  if (!command.timeout && !command.tags && !command.node_count && !command.begin_at) return ok();
  const auto tasks = static_cast<int64_t>(state.unfinished_tasks(array.id).size());
  const int64_t bytes = tasks * text_bytes(*array.spec);
  if (bytes <= kEditTextBytes) return ok();
  return failed_precondition(
      "job {}: its {} unfinished tasks would be stored anew with their environments, {} MiB, "
      "allowed is {}: edit them one by one, as {}_INDEX",
      array.id.value, tasks, mebibytes(bytes), mebibytes(kEditTextBytes), array.id.value);
}

// The same of the tasks that are made, as far as it may still change; those still to come are made
// of the array's spec. Tasks that refuse it are left as they are.
void edit_tasks(Decision& decision, JobId array, EditJob command, const Actor& actor) {
  command.array_limit.reset();
  EditJob of_running{.job = "", .timeout = command.timeout, .tags = command.tags};
  for (JobId id : decision.state().unfinished_tasks(array)) {
    EditJob& each = decision.state().find(id)->has_live_attempt() ? of_running : command;
    each.job = std::to_string(id.value);
    if (!changes_text(each).empty()) (void)decide(decision, each, actor);
  }
  advance_array(decision, array, tasks_at_submit(*decision.state().find(array)->spec));
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const EditJob& command, const Actor& actor) {
  const Result<Meant> meant = find_controllable_task(decision.state(), actor, command.job);
  if (!meant.is_ok()) return meant.status();
  RETURN_IF_ERROR(check_edit(decision, meant.value(), command));
  if (meant.value().job->is_array() && !meant.value().task)
    RETURN_IF_ERROR(check_size(decision.state(), *meant.value().job, command));
  const Job& job = made(decision, meant.value());
  const JobId id = job.id;
  CommandReply reply{id, job.spec->name, changes_text(command)};
  if (job.reservation && (command.node_count || command.priority || command.begin_at)) {
    decision.emit(ReservationDropped{id, "it was edited"});
  }
  if (command.priority && job.priority != *command.priority) {
    decision.emit(JobPriorityChanged{id, *command.priority});
  }
  if (command.timeout || command.tags || command.node_count || command.begin_at ||
      command.array_limit) {
    decision.emit(JobEdited{id, command.timeout, command.tags, command.node_count, command.begin_at,
                            command.array_limit});
  }
  if (job.is_array()) {
    if (needs_wait(command)) reply.message += "; of tasks that run only time limit and tags";
    edit_tasks(decision, id, command, actor);
  }
  return reply;
}

}  // namespace hai
