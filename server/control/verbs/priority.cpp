// A new priority counts from the next planning pass on; a running attempt keeps the level it was
// placed at.

#include "server/control/verbs/submit.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const SetJobPriority& command, const Actor& actor) {
  const Result<Meant> meant = find_controllable_task(decision.state(), actor, command.job);
  if (!meant.is_ok()) return meant.status();
  const Job& found = *meant.value().job;
  if (found.is_terminal())
    return failed_precondition("job {} has {}", shown_id(found), to_string(found.state));
  const User* owner = decision.state().find_user(found.user);  // a validation has none
  if (owner != nullptr && found.priority != command.priority) {
    RETURN_IF_ERROR(check_quota(decision.state(), *owner, *found.spec, command.priority));
  }
  RETURN_IF_ERROR(check_may_make(decision, meant.value()));
  const Job& job = made(decision, meant.value());
  if (job.reservation) decision.emit(ReservationDropped{job.id, "its priority changed"});
  if (job.priority != command.priority) decision.emit(JobPriorityChanged{job.id, command.priority});
  if (job.is_array()) decide_for_tasks(decision, job.id, command, actor);
  return CommandReply{job.id, job.spec->name,
                      fmt::format("priority {}", to_string(command.priority))};
}

}  // namespace hai
