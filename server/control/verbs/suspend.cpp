// Suspend: the job saves, leaves its nodes and stays away until somebody resumes it. Resume: it may
// run again.

#include "server/control/attempt/array_flow.h"
#include "server/control/verbs/decide.h"
#include "server/plan/carry_out.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const SuspendJob& command, const Actor& actor) {
  Result<const Job*> found = find_controllable(decision.state(), actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  if (job.is_terminal())
    return failed_precondition("job {} has {}", shown_id(job), to_string(job.state));
  RETURN_IF_ERROR(check_not_stopping(job));
  std::string reason =
      "suspended by " + actor.user + (command.reason.empty() ? "" : ": " + command.reason);
  if (!job.held || job.is_held_by_limit()) decision.emit(JobHeld{job.id, reason});
  if (job.reservation) decision.emit(ReservationDropped{job.id, reason});
  if (job.is_array()) {
    decide_for_tasks(decision, job.id, command, actor);
    return CommandReply{job.id, job.spec->name, "held, and its running tasks are suspended"};
  }
  if (!job.has_live_attempt())
    return CommandReply{job.id, job.spec->name, "held; it does not run now"};
  suspend_attempt(decision, job.id, {}, reason);
  return CommandReply{
      job.id, job.spec->name,
      fmt::format("suspending; it has {} to save", format_duration(job.spec->suspend.grace))};
}

Result<CommandReply> decide(Decision& decision, const ResumeJob& command, const Actor& actor) {
  const Result<const Job*> found = find_or_make(decision, actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  release(decision, job);
  if (job.is_held_by_limit()) {
    return CommandReply{job.id, job.spec->name,
                        job.hold_reason + ": it is released when another task has ended"};
  }
  if (job.is_array()) decide_for_tasks(decision, job.id, command, actor);
  return CommandReply{job.id, job.spec->name,
                      !job.has_live_attempt() ? "queued"
                      : is_leaving(job) ? "leaves first, as it was asked to, then it is queued"
                                        : "runs"};
}

}  // namespace hai
