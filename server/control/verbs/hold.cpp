// Hold keeps a job from starting; an attempt that runs goes on. Release undoes it.

#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const HoldJob& command, const Actor& actor) {
  const Result<Meant> meant = find_controllable_task(decision.state(), actor, command.job);
  if (!meant.is_ok()) return meant.status();
  if (const Job& found = *meant.value().job; found.is_terminal())
    return failed_precondition("job {} has {}", shown_id(found), to_string(found.state));
  RETURN_IF_ERROR(check_not_stopping(*meant.value().job));
  RETURN_IF_ERROR(check_may_make(decision, meant.value()));
  const Job& job = made(decision, meant.value());
  if (job.is_terminal()) return CommandReply{job.id, job.spec->name, job.end_reason};
  std::string reason =
      "held by " + actor.user + (command.reason.empty() ? "" : ": " + command.reason);
  if (!job.held || job.is_held_by_limit()) decision.emit(JobHeld{job.id, reason});
  if (job.reservation) decision.emit(ReservationDropped{job.id, reason});
  if (job.is_array()) {
    decide_for_tasks(decision, job.id, command, actor);
    return CommandReply{job.id, job.spec->name, "held; running tasks go on"};
  }
  return CommandReply{job.id, job.spec->name,
                      !job.has_live_attempt() ? "held"
                      : is_leaving(job)       ? "held; the attempt leaves, as it was asked to"
                                              : "held; the running attempt goes on"};
}

Result<CommandReply> decide(Decision& decision, const ReleaseJob& command, const Actor& actor) {
  return decide(decision, ResumeJob{command.job}, actor);
}

}  // namespace hai
