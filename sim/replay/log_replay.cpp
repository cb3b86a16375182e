#include "sim/replay/log_replay.h"

#include <fmt/core.h>

#include <utility>

#include "server/model/digest.h"
#include "server/model/fits.h"
#include "server/model/invariants.h"
#include "server/model/state_digest.h"

namespace hai {
namespace {

constexpr size_t kFinishedKept = 100;

bool is_of_pass(const Event& event) { return event.actor == kScheduler; }

}  // namespace

bool LogReplay::begins_turn(const Event& event) const {
  if (turn_.empty()) return false;
  const Event& last = turn_.back();
  return event.time != last.time || (is_of_pass(last) && !is_of_pass(event)) ||
         std::holds_alternative<EpochStarted>(event.body);
}

Status LogReplay::add(Event event) {
  if (report_.events == 0 && turn_.empty() && event.seq != 1) {
    return failed_precondition("the log begins at event {}: the state before it is not known",
                               event.seq);
  }
  if (begins_turn(event)) RETURN_IF_ERROR(end_turn());
  turn_.push_back(std::move(event));
  return ok();
}

Status LogReplay::finish() {
  if (!turn_.empty()) RETURN_IF_ERROR(end_turn());
  unchecked_ = INT64_MAX;
  check_invariants();
  report_.state_digest = state_digest(state_);
  return ok();
}

Status LogReplay::apply(const Event& event) {
  RETURN_IF_ERROR(fits(state_, event));
  state_.apply(event);
  if (options_.decisions) pass_check_.follow(event);
  return ok();
}

Status LogReplay::end_turn() {
  ++report_.turns;
  size_t inputs = 0;
  while (inputs < turn_.size() && (!options_.decisions || !is_of_pass(turn_[inputs]))) {
    RETURN_IF_ERROR(apply(turn_[inputs++]));
  }
  const std::span<const Event> pass = std::span(turn_).subspan(inputs);
  const UnixTime time = turn_.back().time;
  if (options_.every_turn) settle_idle(time, !pass.empty());
  if (!pass.empty()) {
    RETURN_IF_ERROR(pass_check_.check(pass));
  } else if (options_.every_turn) {
    look_for_idle(time);
  }
  for (const Event& event : turn_) {
    report_.log_digest = digest(report_.log_digest, event);
    if (std::holds_alternative<EpochStarted>(event.body)) ++report_.epochs;
  }
  report_.events += std::ssize(turn_);
  report_.last_seq = state_.last_seq();
  unchecked_ += std::ssize(turn_);
  turn_.clear();
  check_invariants();
  state_.take_touched();
  if (options_.decisions) {
    pass_check_.end_turn();
  } else {
    state_.evict_finished(kFinishedKept);
  }
  return ok();
}

void LogReplay::note_overcommit(const std::string& violation) {
  if (std::exchange(is_overcommit_noted_, true)) return;
  report_.notes.push_back(fmt::format(
      "after event {}: {}, and perhaps others: taken for the work of a version that did not count "
      "them; without --state it would be an error",
      state_.last_seq(), violation));
}

// Looking at everything costs what there is: as many events must have passed.
void LogReplay::check_invariants() {
  const int64_t size =
      std::ssize(state_.nodes()) + std::ssize(state_.waiting()) + std::ssize(state_.live());
  if (!options_.strict && unchecked_ < size) return;
  unchecked_ = 0;
  for (const std::string& violation : violated_invariants(state_)) {
    // Versions that did not count CPUs and memory gave more than there was (docs/design/0010).
    // Where passes are made again, such a one shows as a difference; where not, nobody knows who
    // wrote it.
    if (!options_.decisions && violation.ends_with("more CPUs or memory given than it has")) {
      note_overcommit(violation);
      continue;
    }
    if (report_.violations.size() >= kReplayFindingsMax) return;
    report_.violations.push_back(fmt::format("after event {}: {}", state_.last_seq(), violation));
  }
}

void LogReplay::look_for_idle(UnixTime time) {
  if (idle_) return;  // The first of several is the one to explain.
  std::string decides = pass_check_.would_decide(time);
  if (!decides.empty()) idle_ = {state_.last_seq(), time, std::move(decides)};
}

// A pass waits for plan_gap, and no longer than for the next tick.
void LogReplay::settle_idle(UnixTime now, bool decided) {
  if (!idle_) return;
  const Knobs& knobs = pass_check_.knobs();
  const bool in_time = now - idle_->time <= knobs.plan_gap + knobs.plan_period;
  if (!decided && in_time) return;
  if (!in_time) {
    ++report_.idle_turn_count;
    if (report_.idle_turns.size() < kReplayFindingsMax) {
      report_.idle_turns.push_back(fmt::format("after event {} ({}) a pass would: {}", idle_->seq,
                                               format_rfc3339(idle_->time), idle_->decides));
    }
  }
  idle_.reset();
}

}  // namespace hai
