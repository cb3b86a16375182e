// Requeue: the job saves and leaves its nodes as when it is suspended, but nothing holds it, so
// that the next pass starts it again: elsewhere, if a node of its is closed by then.

#include "server/control/attempt/array_flow.h"
#include "server/control/verbs/decide.h"
#include "server/plan/carry_out.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const RequeueJob& command, const Actor& actor) {
  Result<const Job*> found = find_controllable(decision.state(), actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  if (job.is_terminal())
    return failed_precondition("job {} has {}: only a running job can be requeued", shown_id(job),
                               to_string(job.state));
  if (job.is_array()) {
    decide_for_tasks(decision, job.id, command, actor);
    return CommandReply{job.id, job.spec->name, "its running tasks start again by themselves"};
  }
  if (!job.has_live_attempt())
    return failed_precondition("job {} waits already: only a running job can be requeued",
                               shown_id(job));
  RETURN_IF_ERROR(check_not_stopping(job));
  const Attempt& attempt = *job.attempt;
  if (attempt.end && attempt.end->outcome != AttemptState::suspended &&
      !attempt.end->infrastructure)
    return failed_precondition("job {} is ending: {}", shown_id(job), attempt.end->reason);
  // It shall run again, so what kept it from that is taken back.
  release(decision, job);
  CommandReply reply{job.id, job.spec->name, "leaves already, and starts again by itself"};
  if (attempt.end) return reply;
  if (attempt.state == AttemptState::suspending) {
    if (attempt.suspended_for) {
      reply.message = fmt::format(
          "leaves already, for job {}; if that one needs its nodes no more, it goes on where it is",
          attempt.suspended_for.value);
    }
    return reply;
  }
  suspend_attempt(
      decision, job.id, {},
      "requeued by " + actor.user + (command.reason.empty() ? "" : ": " + command.reason));
  reply.message = fmt::format("requeueing; it has {} to save and starts again by itself",
                              format_duration(job.spec->suspend.grace));
  return reply;
}

}  // namespace hai
