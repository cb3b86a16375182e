#include "server/control/engine/leadership.h"

#include <algorithm>

namespace hai {

Leadership::Leadership(Loop& loop, Store& store, EventSink* sink, const Knobs& knobs,
                       LostHistory& history, TermOwner& owner, ControllerStats& stats)
    : loop_(loop),
      store_(store),
      sink_(sink),
      knobs_(knobs),
      history_(history),
      owner_(owner),
      stats_(stats),
      renew_timer_(loop),
      acquire_timer_(loop) {}

void Leadership::stop(std::function<void()> done) {
  const bool led = is_leading();
  step_down("shutting down", ok());
  mode_ = ServerMode::stopped;
  acquire_timer_.cancel();
  stale_since_.reset();
  if (!led) return loop_.post(std::move(done));
  store_.release(term_.epoch, std::move(done));
}

void Leadership::try_acquire() {
  store_.acquire(knobs_.server_lease, history_.floor(), scope_.bind([this](Result<Term> term) {
    if (mode_ != ServerMode::standby) return;
    term.is_ok() ? acquired(term.value()) : not_acquired(term.status());
  }));
}

void Leadership::ask_again_in(Duration pause) {
  acquire_timer_.arm(pause, [this] { try_acquire(); });
}

void Leadership::acquired(const Term& term) {
  mode_ = ServerMode::loading;
  not_leading_reason_ = "loading its state";
  store_away_since_.reset();
  leader_ = {};
  term_ = term;
  compare_clocks(term);
  term_scope_.renew();
  store_.load(term_scope_.bind([this](Result<StoredState> stored) { loaded(std::move(stored)); }));
  tell_standing();
}

void Leadership::not_acquired(const Status& why) {
  not_leading_reason_ = why.message();
  Duration pause = knobs_.server_lease / 8;
  if (why.code() == Code::failed_precondition) {  // Another one leads, and knows better.
    store_away_since_.reset();
    leader_ = store_.leader();
    history_.leads_elsewhere(store_.leader_position());
    // A lease that nobody renews is taken over when it ends, not a pause later.
    constexpr Duration kShortest = 5ms;
    if (auto left = store_.lease_left()) pause = std::min(pause, *left + kShortest);
    stale_since_.reset();
  } else if (!store_away_since_) {
    store_away_since_ = loop_.now();
  }
  tell_standing();
  ask_again_in(pause);
}

void Leadership::loaded(Result<StoredState> stored) {
  if (!stored.is_ok()) return step_down("loading failed", stored.status());
  // The answer to the acquire may have come so late that others have led meanwhile.
  if (stored.value().epoch >= term_.epoch) {
    return step_down("its term is over", aborted("epoch {} has begun, this one is {}",
                                                 stored.value().epoch.value, term_.epoch.value));
  }
  history_.term_began({term_.epoch, stored.value().last_seq});
  owner_.take_state(std::move(stored).value());
  mode_ = ServerMode::leading;
  ++stats_.terms;
  not_leading_reason_.clear();
  confirmed_at_ = loop_.wall_now();
  stale_since_.reset();
  tell_standing();
  arm_renewal();
  owner_.term_began();
}

// The store looked at its clock at any moment between the request and its answer: one that waited
// for a replica is seconds late, and says nothing of a difference that is less than that.
void Leadership::compare_clocks(const Term& term) {
  if (!term.store_time) return;
  const MonoTime sent = term.valid_until - knobs_.server_lease;
  const Duration at_most = loop_.wall_now() - *term.store_time;
  const Duration at_least = at_most - (loop_.now() - sent);
  ahead_of_store_ = std::clamp(Duration(0), at_least, at_most);
}

void Leadership::confirm(const Term& term) {
  term_ = term;
  compare_clocks(term);
  confirmed_at_ = loop_.wall_now();
}

void Leadership::arm_renewal() {
  renew_timer_.arm(knobs_.server_lease / 4, [this] {
    store_.renew(term_.epoch, knobs_.server_lease, term_scope_.bind([this](Result<Term> renewed) {
      if (renewed.is_ok()) {
        confirm(renewed.value());
      } else if (renewed.status().code() == Code::aborted || loop_.now() >= term_.valid_until) {
        return step_down("its lease could not be renewed", renewed.status());
      }
      arm_renewal();
    }));
  });
}

void Leadership::when_sure(std::function<void()> then) {
  if (loop_.now() < term_.valid_until) return then();
  auto renewed = [this, then = std::move(then)](Result<Term> term) {
    if (!term.is_ok()) return step_down("its lease ended", term.status());
    confirm(term.value());
    when_sure(then);
  };
  store_.renew(term_.epoch, knobs_.server_lease, term_scope_.bind(std::move(renewed)));
}

// If the store is away, what was durable is still shown to readers.
void Leadership::step_down(const std::string& what, const Status& cause) {
  if (mode_ == ServerMode::stopped) return;
  const std::string why = cause.is_ok() ? what : what + ": " + cause.message();
  if (mode_ != ServerMode::standby) ++stats_.step_downs;
  if (!cause.is_ok() && cause.code() != Code::aborted) {
    if (!store_away_since_) store_away_since_ = loop_.now();
    if (is_leading()) stale_since_ = confirmed_at_;
  }
  mode_ = ServerMode::standby;
  not_leading_reason_ = why;
  term_scope_.renew();
  renew_timer_.cancel();
  owner_.term_ended(why);
  tell_standing();
  // If another server leads, asking at once tells where, which is what people want to know now.
  ask_again_in(cause.code() == Code::aborted ? Duration{0} : knobs_.server_lease / 8);
}

Standing Leadership::standing() const {
  return {.mode = mode_,
          .reason = not_leading_reason_,
          .leader = leader_,
          .stale_since = stale_since_,
          .store_is_away = store_away_since_.has_value()};
}

Duration Leadership::store_unavailable() const {
  return store_away_since_ ? loop_.now() - *store_away_since_ : Duration{0};
}

void Leadership::tell_standing() {
  Standing now = standing();
  if (sink_ == nullptr || now == told_standing_) return;
  told_standing_ = std::move(now);
  sink_->standing_changed();
}

}  // namespace hai
