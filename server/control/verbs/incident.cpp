// An operator closes an incident whose cause is known to be over.

#include <fmt/core.h>

#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const CloseIncident& command, const Actor& actor) {
  if (!actor.is_operator()) {
    return permission_denied("{} is no operator: incidents are closed by operators and admins",
                             actor.user);
  }
  const IncidentId id{command.incident};
  if (!decision.state().incidents().contains(id)) {
    if (command.incident >= 1 && command.incident <= decision.state().last_incident().value) {
      return failed_precondition("incident {} is closed already", command.incident);
    }
    return not_found("incident {} does not exist", command.incident);
  }
  const std::string reason = command.reason.empty() ? "" : ": " + command.reason;
  decision.emit(IncidentClosed{id, "closed by " + actor.user + reason});
  return CommandReply{{}, fmt::format("incident {}", command.incident), "closed"};
}

}  // namespace hai
