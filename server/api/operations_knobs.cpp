// Knobs: what holds, what the config says, and changing it.

#include "common/knobs.h"
#include "server/api/answers.h"
#include "server/api/operations.h"
#include "server/api/queries.h"
#include "server/api/text_limits.h"
#include "server/control/engine/controller.h"

namespace hai {

namespace {

void fill(const Controller& controller, const ClusterState& state, const KnobRange& range,
          v1::Knob& out) {
  out.set_name(range.name);
  out.set_value(get_knob(controller.knobs(), range.name));
  out.set_config_value(get_knob(controller.config_knobs(), range.name));
  out.set_legal(range.legal);
  out.set_may_change(may_change_while_running(range.name));
  const auto found = state.knobs().find(range.name);
  if (found == state.knobs().end()) return;
  out.set_set_by(found->second.by);
  out.set_reason(found->second.reason);
  out.set_set_at_us(to_micros(found->second.set_at));
}

// With the knob as it is then: what the loop owns is read here, not where the answer is written.
Done<CommandReply> answer_with_knob(const Controller& controller, const std::string& name,
                                    Answer<v1::Knob> answer) {
  return [&controller, name, answer = std::move(answer)](const Result<CommandReply>& done) {
    if (!done.is_ok()) return answer(done.status());
    v1::Knob knob;
    for (const KnobRange& range : knob_ranges()) {
      if (range.name == name) fill(controller, controller.state(), range, knob);
    }
    knob.set_name(name);  // also of one that only another version has
    answer(Fill<v1::Knob>([knob](v1::Knob& reply) { reply = knob; }));
  };
}

}  // namespace

Prepared<v1::ListKnobsReply> OperationBodies::ListKnobs(const v1::ListKnobsRequest&) {
  return [this](const Caller& caller, Answer<v1::ListKnobsReply> answer) {
    const Controller& controller = parts_.queries.controller();
    parts_.queries.controller().read(
        caller,
        [&controller, answer](const Controller::ReadContext& context, const Actor& actor) {
          if (!actor.is_operator()) {
            return answer(permission_denied("knobs are for operators and admins only"));
          }
          v1::ListKnobsReply all;
          for (const KnobRange& range : knob_ranges()) {
            fill(controller, context.state, range, *all.add_knobs());
          }
          answer(Fill<v1::ListKnobsReply>([all](v1::ListKnobsReply& reply) { reply = all; }));
        },
        [answer](const Status& status) { answer(status); });
  };
}

Prepared<v1::Knob> OperationBodies::SetKnob(const v1::SetKnobRequest& request) {
  RETURN_IF_ERROR(check_sentence("reason", request.reason()));
  return [this, command = hai::SetKnob{request.name(), request.value(), request.reason()}](
             const Caller& caller, Answer<v1::Knob> answer) {
    Controller& controller = parts_.queries.controller();
    controller.submit(caller, command, answer_with_knob(controller, command.name, answer));
  };
}

Prepared<v1::Knob> OperationBodies::UnsetKnob(const v1::UnsetKnobRequest& request) {
  RETURN_IF_ERROR(check_sentence("reason", request.reason()));
  return [this, command = hai::UnsetKnob{request.name(), request.reason(), ""}](
             const Caller& caller, Answer<v1::Knob> answer) {
    Controller& controller = parts_.queries.controller();
    controller.submit(caller, command, answer_with_knob(controller, command.name, answer));
  };
}

}  // namespace hai
