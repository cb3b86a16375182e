#include "server/control/engine/turns.h"

#include <algorithm>

#include "common/check.h"
#include "server/control/engine/append_batch.h"

namespace hai {

Turns::Turns(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, const Knobs& knobs,
             Leadership& leadership, Memory& memory, TurnOwner& owner, ControllerStats& stats)
    : loop_(loop),
      store_(store),
      agents_(agents),
      sink_(sink),
      knobs_(knobs),
      leadership_(leadership),
      memory_(memory),
      owner_(owner),
      stats_(stats) {}

void Turns::post(TurnInput input) {
  const bool leads = leadership_.is_leading();
  if (!leads || inbox_.size() >= kInboxMax) {
    if (!input.refuse) return;
    Status why = leads ? resource_exhausted("{} requests are waiting already; retry in a second",
                                            inbox_.size())
                       : why_not_leading(leadership_.standing());
    loop_.post([refuse = std::move(input.refuse), why] { refuse(why); });
    return;
  }
  inbox_.push_back(std::move(input));
  pump();
}

void Turns::post_urgent(std::function<void(Decision&)> decide) {
  // The next report says it again.
  if (!leadership_.is_leading() || urgent_.size() >= kInboxMax) return;
  urgent_.push_back({std::move(decide), nullptr});
  pump();
}

void Turns::pump() {
  if (pump_posted_ || append_in_flight_ || !leadership_.is_leading()) return;
  pump_posted_ = true;
  loop_.post(scope_.bind([this] {
    pump_posted_ = false;
    if (leadership_.is_leading() && !append_in_flight_) run();
  }));
}

void Turns::run() {
  if (waiting() == 0 && !owner_.wants_turn()) return;
  ++stats_.turns;
  Decision decision(*memory_.state, knobs_, decision_time());
  owner_.begin_turn(decision);
  stats_.inputs += take_inputs(decision);
  owner_.end_turn(decision);
  std::vector<Event> events = decision.take_events();
  stats_.events += static_cast<int64_t>(events.size());
  append_in_flight_ = true;
  if (events.empty()) return leadership_.when_sure([this] { release(); });
  AppendBatch batch = make_batch();
  batch.events = events;
  effects_.events = std::move(events);
  append(std::move(batch));
}

// What people ask for gets its share of each turn even if reports alone fill it.
int Turns::share_of_people(int batch_max) { return std::max(1, batch_max / 4); }

bool Turns::has_room(const Decision& decision, Duration taken, Duration server_lease) {
  return decision.events().size() < kEventsOfTurn && decision.text_bytes() < kTextBytesOfTurn &&
         taken < server_lease / kLeaseShareOfTurn;
}

// How many were taken.
int Turns::take_inputs(Decision& decision) {
  const auto take = [&](std::deque<TurnInput>& line) {
    TurnInput input = std::move(line.front());
    line.pop_front();
    input.decide(decision);
  };
  const int max = knobs_.append_batch_max;
  const MonoTime began = loop_.now();
  const auto has_room = [&](Duration lease) {
    return Turns::has_room(decision, loop_.now() - began, lease);
  };
  int taken = 0;
  for (; taken < max && !urgent_.empty() && has_room(knobs_.server_lease * 3 / 4); ++taken)
    take(urgent_);
  const int end = std::max(taken + share_of_people(max), max);
  for (; taken < end && !inbox_.empty() && has_room(knobs_.server_lease); ++taken) take(inbox_);
  return taken;
}

AppendBatch Turns::make_batch() {
  AppendBatch batch = rows_to_append(*memory_.state, memory_.state->take_touched());
  batch.epoch = leadership_.term().epoch;
  return batch;
}

void Turns::append(AppendBatch batch) {
  const int64_t last_seq = batch.events.back().seq;
  auto appended = [this, started = loop_.now(), last_seq](const Status& status) {
    stats_.note_append(loop_.now() - started);
    if (!status.is_ok()) return leadership_.step_down("an append failed", status);
    memory_.state->mark_durable();
    memory_.history.appended({leadership_.term().epoch, last_seq});
    leadership_.when_sure([this] { release(); });
  };
  store_.append(std::move(batch), leadership_.of_this_term().bind(std::move(appended)));
}

void Turns::release() {
  Effects effects = std::exchange(effects_, {});
  ClusterState& state = *memory_.state;
  if (sink_ != nullptr && !effects.events.empty()) sink_->durable(effects.events, state);
  owner_.before_release();
  for (const TurnOrder& order : effects.orders) send_now(order);
  for (const PendingReply& reply : effects.replies) reply.deliver();
  state.evict_finished(static_cast<size_t>(knobs_.finished_jobs_kept));
  append_in_flight_ = false;
  waiting() > 0 || owner_.wants_turn() ? pump() : owner_.no_turn_follows();
}

void Turns::send_now(const TurnOrder& order) {
  Session* session = memory_.sessions.find(order.connection);
  if (session == nullptr || !owner_.may_leave(order)) return;
  if (const auto* grant = std::get_if<GrantLease>(&order.body))
    memory_.sessions.grant_leaves(*session, grant->report_sequence, loop_.now());
  ++stats_.orders;
  agents_.send(order.connection,
               {leadership_.term().epoch, order.body, memory_.history.durable_seq()});
  if (const auto* refusal = std::get_if<RefuseAgent>(&order.body))
    agents_.close(order.connection, refusal->reason);
}

// What was decided may be in the store or not; what still waited was not begun.
void Turns::end_term(const std::string& why) {
  append_in_flight_ = false;
  Effects effects = std::exchange(effects_, {});
  urgent_.clear();
  std::deque<TurnInput> inbox = std::exchange(inbox_, {});
  const Status unknown = unavailable(
      "this server has stopped leading: {}; it may or may not have been done, and asking again "
      "with the same request id is safe",
      why);
  for (const PendingReply& reply : effects.replies) {
    if (reply.refuse) loop_.post([refuse = reply.refuse, unknown] { refuse(unknown); });
  }
  for (const TurnInput& input : inbox) {
    if (!input.refuse) continue;
    loop_.post(scope_.bind(
        [this, refuse = input.refuse] { refuse(why_not_leading(leadership_.standing())); }));
  }
}

}  // namespace hai
