#include "sim/replay/pass_check.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "server/control/verbs/decide.h"
#include "server/model/fits.h"
#include "server/plan/carry_out.h"
#include "server/store/event_line.h"

namespace hai {
namespace {

constexpr size_t kFinishedPassesKept = 100;  // a log may have millions

// What a plan is about, to tell two plans apart and to find the one that a log has.
std::set<std::string> items_of(const Plan& plan) {
  std::set<std::string> items;
  for (const DropItem& item : plan.drops) items.insert(fmt::format("drop {}", item.job.value));
  for (const ContinueItem& item : plan.continues) {
    items.insert(fmt::format("continue {}", item.job.value));
  }
  for (const SuspendItem& item : plan.suspends) {
    items.insert(fmt::format("suspend {}", item.job.value));
  }
  for (const StartItem& item : plan.starts) items.insert(fmt::format("start {}", item.job.value));
  for (const ReserveItem& item : plan.reserves) {
    items.insert(fmt::format("reserve {}", item.job.value));
  }
  return items;
}

std::set<std::string> items_of(std::span<const Event> events) {
  std::set<std::string> items;
  for (const Event& event : events) {
    const int64_t job = job_of(event.body).value;
    if (std::holds_alternative<ReservationDropped>(event.body)) {
      items.insert(fmt::format("drop {}", job));
    } else if (std::holds_alternative<AttemptContinued>(event.body)) {
      items.insert(fmt::format("continue {}", job));
    } else if (std::holds_alternative<AttemptPlaced>(event.body)) {
      items.insert(fmt::format("start {}", job));
    } else if (std::holds_alternative<NodesReserved>(event.body)) {
      items.insert(fmt::format("reserve {}", job));
    } else if (const auto* asked = std::get_if<AttemptSuspending>(&event.body)) {
      if (!asked->beneficiary) items.insert(fmt::format("suspend {}", job));
    }
  }
  return items;
}

}  // namespace

void PassCheck::follow(const Event& event) {
  scratch_.apply(event);
  if (const auto* started = std::get_if<EpochStarted>(&event.body)) take_knobs(*started);
  if (const auto* set = std::get_if<KnobSet>(&event.body)) {
    take_knob(set->setting.name, set->setting.value, event);
  }
  if (const auto* unset = std::get_if<KnobUnset>(&event.body)) {
    take_knob(unset->name, unset->value, event);
  }
}

void PassCheck::take_knob(const std::string& name, const std::string& value, const Event& event) {
  if (set_knob(knobs_, name, value).is_ok() || report_.notes.size() >= kReplayFindingsMax) return;
  report_.notes.push_back(
      fmt::format("event {}: knob unknown here or out of range: {} {}", event.seq, name, value));
}

void PassCheck::take_knobs(const EpochStarted& started) {
  knobs_ = Knobs();
  turns_at_.reset();
  if (report_.notes.size() >= kReplayFindingsMax) return;
  if (started.knobs.empty()) {
    report_.notes.push_back(fmt::format("epoch {} does not say its knobs: the defaults are taken",
                                        started.epoch.value));
  }
  std::vector<std::string> refused;
  for (const auto& [name, text] : started.knobs) {
    if (!set_knob(knobs_, name, text).is_ok()) refused.push_back(name + " " + text);
  }
  if (refused.empty()) return;
  report_.notes.push_back(
      fmt::format("epoch {}: knobs unknown here or out of range, defaults are taken: {}",
                  started.epoch.value, fmt::join(refused, ", ")));
}

std::vector<PassCheck::Candidate> PassCheck::candidates(UnixTime now) {
  planner_.update(state_, state_.take_changes());
  std::vector<Candidate> found;
  for (const bool takes_turns : {false, true}) {
    planner_.set_turns_at(takes_turns ? UnixTime::min() : now);
    found.push_back({planner_.pass(state_, knobs_, now), takes_turns});
  }
  const bool differ = items_of(found[0].plan) != items_of(found[1].plan);
  found[0].is_certain = found[1].is_certain = differ;
  return found;
}

Status PassCheck::check(std::span<const Event> recorded) {
  ++report_.passes;
  report_.decided += std::ssize(recorded);
  while (!recorded.empty()) {
    std::vector<Candidate> tried = candidates(recorded.front().time);
    // First the one that is about the same jobs.
    const std::set<std::string> wanted = items_of(recorded);
    if (items_of(tried[0].plan) != wanted && items_of(tried[1].plan) == wanted) {
      std::swap(tried[0], tried[1]);
    }
    std::optional<Difference> difference;
    size_t decided = 0;
    for (const Candidate& candidate : tried) {
      decided = decide(candidate, recorded, difference);
      if (decided == 0) continue;
      accept(candidate, recorded.first(decided));
      recorded = recorded.subspan(decided);
      break;
    }
    if (decided > 0) continue;
    differ(std::move(*difference));
    return apply_as_recorded(recorded);
  }
  return ok();
}

size_t PassCheck::decide(const Candidate& candidate, std::span<const Event> recorded,
                         std::optional<Difference>& first_difference) {
  Decision decision(scratch_, knobs_, recorded.front().time);
  carry_out(decision, candidate.plan);
  const std::vector<Event> events = decision.take_events();
  size_t same = 0;
  while (same < events.size() && same < recorded.size() &&
         event_line(events[same]) == event_line(recorded[same])) {
    ++same;
  }
  if (same == events.size() && same > 0) return same;
  if (!first_difference) {
    first_difference = {
        .seq = same < recorded.size() ? recorded[same].seq : recorded.back().seq + 1,
        .expected = same < events.size() ? event_line(events[same]) : "",
        .got = same < recorded.size() ? event_line(recorded[same]) : ""};
  }
  if (!events.empty()) scratch_ = state_;
  return 0;
}

void PassCheck::accept(const Candidate& candidate, std::span<const Event> events) {
  if (candidate.takes_turns && candidate.is_certain) {
    note_turns(events.front().time, events.front().seq);
  }
  for (const Event& event : events) state_.apply(event);  // As the scratch has already.
  planner_.update(state_, state_.take_changes());
}

// The log goes on from what it says.
Status PassCheck::apply_as_recorded(std::span<const Event> events) {
  for (const Event& event : events) {
    RETURN_IF_ERROR(fits(state_, event));
    state_.apply(event);
    scratch_.apply(event);
  }
  planner_.update(state_, state_.take_changes());
  return ok();
}

void PassCheck::end_turn() {
  scratch_.take_touched();
  scratch_.evict_finished(kFinishedPassesKept);
  state_.evict_finished(kFinishedPassesKept);
}

void PassCheck::note_turns(UnixTime now, int64_t seq) {
  if (turns_at_ && now >= *turns_at_ && now - *turns_at_ < knobs_.plan_period) {
    differ({seq, fmt::format("no turns until {}", format_rfc3339(*turns_at_ + knobs_.plan_period)),
            fmt::format("jobs of one level take turns at {}", format_rfc3339(now))});
  }
  turns_at_ = now;
}

void PassCheck::differ(Difference difference) {
  ++report_.difference_count;
  if (report_.differences.size() < kReplayFindingsMax) {
    report_.differences.push_back(std::move(difference));
  }
}

std::string PassCheck::would_decide(UnixTime now) {
  planner_.update(state_, state_.take_changes());
  planner_.set_turns_at(now);
  return fmt::format("{}", fmt::join(items_of(planner_.pass(state_, knobs_, now)), ", "));
}

}  // namespace hai
