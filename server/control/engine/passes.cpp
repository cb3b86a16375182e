#include "server/control/engine/passes.h"

#include "server/plan/carry_out.h"

namespace hai {

void Passes::begin_term() {
  heard_all_ = false;
  last_at_.reset();
}

void Passes::end_term() {
  is_wanted_ = false;
  timer_.cancel();
}

void Passes::note_who_was_heard() {
  if (heard_all_) return;
  heard_all_ = has_heard_all(*memory_.state, memory_.sessions, knobs_, loop_.now());
}

bool Passes::is_due() const {
  return is_wanted_ && (!last_at_ || loop_.now() - *last_at_ >= gap());
}

// Planning takes at most a quarter of the thread, however long a pass is.
Duration Passes::gap() const { return std::max(knobs_.plan_gap, 4 * stats_.last_pass); }

void Passes::run(Decision& decision) {
  is_wanted_ = false;
  last_at_ = loop_.now();
  if (memory_.history.lost()) {
    const bool all_known = are_all_nodes_known(*memory_.state, memory_.sessions);
    if (!memory_.history.settles(all_known, loop_.now(), time_to_settle(knobs_))) return;
  }
  if (is_listening()) return;
  Planner& planner = *memory_.planner;
  ClusterState& state = *memory_.state;
  planner.update(state, state.take_changes());
  const Plan plan = planner.pass(state, knobs_, decision.now());
  stats_.note_pass(loop_.now() - *last_at_);
  carry_out(decision, plan);
  planner.update(state, state.take_changes());
  // What a pass decides is complete: its own events ask for no other.
  is_wanted_ = plan.is_partial;
}

void Passes::wake_when_due(std::function<void()> due) {
  if (!is_wanted_ || timer_.is_armed()) return;
  timer_.arm(std::max(Duration{0}, gap() - (loop_.now() - *last_at_)), std::move(due));
}

}  // namespace hai
