// Controller, the part about readers: who leads answers with what is durable now; who has lost the
// store answers with what was durable then, and says so; everybody else says who leads.

#include "server/control/engine/controller.h"

namespace hai {

struct Controller::Reading {
  Caller caller;
  std::function<void(const ReadContext&, const Actor&)> read;
  std::function<void(Status)> refuse;
};

void Controller::read(Caller caller, std::function<void(const ReadContext&, const Actor&)> read,
                      std::function<void(Status)> refuse) {
  auto reading = std::make_shared<const Reading>(
      Reading{std::move(caller), std::move(read), std::move(refuse)});
  // Also of one that waited when the store went away.
  auto refused = [self = self_, reading](const Status& why) {
    if (*self != nullptr && (*self)->stale_since_) return (*self)->answer(*reading);
    reading->refuse(why);
  };
  post_input({[this, reading, refused](Decision&) {
                effects_.replies.push_back({[this, reading] { answer(*reading); }, refused});
              },
              refused});
}

void Controller::answer(const Reading& reading) const {
  Result<Actor> actor = authenticate(*state_, reading.caller);
  if (!actor.is_ok()) return reading.refuse(actor.status());
  reading.read(ReadContext{*state_, soft_facts(), cluster_name_, stale_since_}, actor.value());
}

// Nobody knows what became of an append that was under way, so what it changed must not show.
void Controller::begin_stale(UnixTime since) {
  if (state_->has_undurable()) {
    state_ = std::make_unique<ClusterState>(std::move(*state_).take_durable());
    planner_->update(*state_, state_->take_changes());
  }
  stale_since_ = since;
}

void Controller::end_stale() { stale_since_.reset(); }

Standing Controller::standing() const {
  return {.mode = mode_,
          .reason = not_leading_reason_,
          .leader = leader_,
          .stale_since = stale_since_,
          .store_is_away = store_away_since_.has_value()};
}

Duration Controller::store_unavailable() const {
  return store_away_since_ ? loop_.now() - *store_away_since_ : Duration{0};
}

void Controller::tell_standing() {
  Standing now = standing();
  if (sink_ == nullptr || now == told_standing_) return;
  told_standing_ = std::move(now);
  sink_->standing_changed();
}

// Asked with each tick, so that a process that was paused itself does not blame the store. A turn
// that takes so long has lost its lease long ago; its append may still end well, but readers have
// waited enough.
bool Controller::store_hangs() {
  const bool same_turn = append_in_flight_ && stats_.turns == turn_of_last_tick_;
  turn_of_last_tick_ = stats_.turns;
  hung_ticks_ = same_turn || loop_.now() > term_.valid_until ? hung_ticks_ + 1 : 0;
  return hung_ticks_ * knobs_.plan_period >= patience_with_store();
}

// The first bound that is not exceeded; behind the last one if all are.
template <typename Bounds>
static size_t bucket_of(const Bounds& bounds, Duration length) {
  size_t bucket = 0;
  while (bucket < bounds.size() && length > Duration(bounds[bucket])) ++bucket;
  return bucket;
}

void Controller::note_pass() {
  stats_.passes_total += stats_.last_pass;
  ++stats_.pass_lengths[bucket_of(ControllerStats::kPassBounds, stats_.last_pass)];
}

void Controller::note_append(MonoTime started) {
  stats_.last_append = loop_.now() - started;
  stats_.appends_total += stats_.last_append;
  ++stats_.appends[bucket_of(ControllerStats::kAppendBounds, stats_.last_append)];
}

}  // namespace hai
