// A new priority counts from the next planning pass on; a running attempt keeps the level it was
// placed at.

#include "server/control/verbs/submit.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const SetJobPriority& command, const Actor& actor) {
  Result<const Job*> found = find_controllable(decision.state(), actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  if (job.is_terminal())
    return failed_precondition("job {} has {}", shown_id(job), to_string(job.state));
  const User* owner = decision.state().find_user(job.user);  // a validation has none
  if (owner != nullptr && job.priority != command.priority) {
    RETURN_IF_ERROR(check_quota(decision.state(), *owner, *job.spec, command.priority));
  }
  if (job.reservation) decision.emit(ReservationDropped{job.id, "its priority changed"});
  if (job.priority != command.priority) decision.emit(JobPriorityChanged{job.id, command.priority});
  if (job.is_array()) decide_for_tasks(decision, job.id, command, actor);
  return CommandReply{job.id, job.spec->name,
                      fmt::format("priority {}", to_string(command.priority))};
}

}  // namespace hai
