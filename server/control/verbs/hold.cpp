// Hold keeps a job from starting; an attempt that runs goes on. Release undoes it.

#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const HoldJob& command, const Actor& actor) {
  const Result<const Job*> found = find_or_make(decision, actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
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
