// Knobs that change while the cluster runs. The config gives the others, and these again when they
// are unset.

#include "server/control/verbs/decide.h"

namespace hai {
namespace {

Status check_changeable(const Actor& actor, const std::string& name) {
  if (actor.role != Role::admin) {
    return permission_denied("{} is no admin: only admins change knobs", actor.user);
  }
  RETURN_IF_ERROR(check_knob_name(name));
  if (may_change_while_running(name)) return ok();
  return failed_precondition(
      "{} is read at the start only: set it in the config of all servers and restart them", name);
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const SetKnob& command, const Actor& actor) {
  RETURN_IF_ERROR(check_changeable(actor, command.name));
  Knobs changed = decision.knobs();
  RETURN_IF_ERROR(set_knob(changed, command.name, command.value));
  RETURN_IF_ERROR(check_knobs(changed));
  const std::string value = get_knob(changed, command.name);
  decision.emit(KnobSet{{.name = command.name,
                         .value = value,
                         .by = actor.user,
                         .reason = command.reason,
                         .set_at = decision.now()}});
  return CommandReply{{}, command.name, value};
}

Result<CommandReply> decide(Decision& decision, const UnsetKnob& command, const Actor& actor) {
  const bool is_set = decision.state().knobs().contains(command.name);
  // One that another version has set is taken back, too.
  if (!is_set || actor.role != Role::admin) RETURN_IF_ERROR(check_changeable(actor, command.name));
  if (!is_set) {
    return failed_precondition("{} is as the config has it: nobody has set it", command.name);
  }
  if (command.value.empty()) {
    decision.emit(KnobUnset{command.name, "", command.reason});
    return CommandReply{{}, command.name, ""};
  }
  Knobs changed = decision.knobs();
  RETURN_IF_ERROR(set_knob(changed, command.name, command.value));
  if (const Status fits = check_knobs(changed); !fits.is_ok()) {
    return failed_precondition("with the config's {} {}: {}", command.name, command.value,
                               fits.message());
  }
  decision.emit(KnobUnset{command.name, command.value, command.reason});
  return CommandReply{{}, command.name, command.value};
}

}  // namespace hai
