// Stopping is final for a waiting job and a request for a running one: the attempt ends only when
// every rank has reported, so that no process outlives its job unseen.

#include "server/control/attempt/attempt_flow.h"
#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const StopJob& command, const Actor& actor) {
  const Result<Meant> meant = find_controllable_task(decision.state(), actor, command.job);
  if (!meant.is_ok()) return meant.status();
  const Job& job = made(decision, meant.value());
  CommandReply reply{job.id, job.spec->name, "stopped"};
  if (job.is_terminal()) {
    reply.message = fmt::format("has {} already", to_string(job.state));
    return reply;  // Idempotent: stopping twice is no error.
  }
  std::string reason =
      "stopped by " + actor.user + (command.reason.empty() ? "" : ": " + command.reason);
  if (job.is_array()) {
    if (!job.stop_requested) decision.emit(JobStopRequested{job.id, reason});
    decide_for_tasks(decision, job.id, command, actor);
    reply.message = "stopping; its tasks end first";
    if (job.array.unfinished == 0) {
      decision.emit(JobFinished{job.id, JobState::stopped, 0, reason});
      reply.message = "stopped";
    }
    return reply;
  }
  if (!job.has_live_attempt()) {
    if (job.reservation) decision.emit(ReservationDropped{job.id, reason});
    decision.emit(JobFinished{job.id, JobState::stopped, 0, reason});
    return reply;
  }
  reply.message = "stopping";
  if (!job.stop_requested) decision.emit(JobStopRequested{job.id, reason});
  end_attempt(decision, job.id, {AttemptState::stopped, 0, reason, false});
  return reply;
}

}  // namespace hai
