// Controller, the part about terms: winning one, keeping it, giving it up.

#include "server/control/engine/controller.h"

namespace hai {

Controller::Controller(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, Knobs knobs,
                       Bootstrap bootstrap, std::string cluster_name,
                       std::unique_ptr<Planner> planner)
    : loop_(loop),
      store_(store),
      agents_(agents),
      sink_(sink),
      knobs_(knobs),
      bootstrap_(std::move(bootstrap)),
      cluster_name_(std::move(cluster_name)),
      planner_(std::move(planner)) {}

Controller::~Controller() {
  *self_ = nullptr;
  for (TimerId timer : {tick_timer_, plan_timer_, renew_timer_, acquire_timer_})
    loop_.cancel(timer);
}

void Controller::start() { try_acquire(); }

void Controller::stop(std::function<void()> done) {
  bool led = is_leading();
  step_down("shutting down", ok());
  mode_ = Mode::stopped;
  loop_.cancel(std::exchange(acquire_timer_, 0));
  end_stale();
  if (!led) return loop_.post(std::move(done));
  store_.release(term_.epoch, std::move(done));
}

void Controller::try_acquire() {
  acquire_timer_ = 0;
  store_.acquire(knobs_.server_lease, history_.floor(), [self = self_](Result<Term> term) {
    if (*self == nullptr || (*self)->mode_ != Mode::standby) return;
    if (term.is_ok()) return (*self)->acquired(term.value());
    (*self)->not_acquired(term.status());
  });
}

void Controller::acquired(const Term& term) {
  mode_ = Mode::loading;
  not_leading_reason_ = "loading its state";
  store_away_since_.reset();
  leader_ = {};
  term_ = term;
  ++incarnation_;
  store_.load([self = self_, incarnation = incarnation_](Result<StoredState> stored) {
    if (*self == nullptr || (*self)->incarnation_ != incarnation) return;
    (*self)->loaded(std::move(stored));
  });
  tell_standing();
}

void Controller::not_acquired(const Status& why) {
  not_leading_reason_ = why.message();
  Duration pause = knobs_.server_lease / 8;
  if (why.code() == Code::failed_precondition) {  // Another one leads, and knows better.
    store_away_since_.reset();
    leader_ = store_.leader();
    history_.leads_elsewhere(store_.leader_position());
    // A lease that nobody renews is taken over when it ends, not a pause later.
    constexpr Duration kShortest = 5ms;
    if (auto left = store_.lease_left()) pause = std::min(pause, *left + kShortest);
    end_stale();
  } else if (!store_away_since_) {
    store_away_since_ = loop_.now();
  }
  tell_standing();
  acquire_timer_ = loop_.call_after(pause, [self = self_] {
    if (*self != nullptr) (*self)->try_acquire();
  });
}

void Controller::loaded(Result<StoredState> stored) {
  if (!stored.is_ok()) return step_down("loading failed", stored.status());
  // The answer to the acquire may have come so late that others have led meanwhile.
  if (stored.value().epoch >= term_.epoch) {
    return step_down("its term is over", aborted("epoch {} has begun, this one is {}",
                                                 stored.value().epoch.value, term_.epoch.value));
  }
  history_.term_began({term_.epoch, stored.value().last_seq});
  state_ = std::make_unique<ClusterState>(std::move(stored).value());
  state_->take_touched();
  state_->mark_durable();
  if (state_->open_incident(kStoreWentBack) != nullptr) history_.found_evidence();
  sessions_.set_term_start(loop_.now());
  time_.start(loop_.wall_now(), newest_time(*state_), loop_.now());
  progress_.clear();
  bootstrapped_ = false;
  heard_all_ = false;
  last_pass_at_.reset();
  last_tick_at_.reset();
  hung_ticks_ = 0;
  mode_ = Mode::leading;
  ++stats_.terms;
  not_leading_reason_.clear();
  confirmed_at_ = loop_.wall_now();
  stale_since_.reset();
  tell_standing();
  arm_renewal();
  // The first turn of a term writes the epoch's start and ticks, so that the log says who decided
  // from here on.
  tick();
  arm_tick();
}

void Controller::arm_tick() {
  tick_timer_ = loop_.call_after(knobs_.plan_period, [self = self_, incarnation = incarnation_] {
    if (*self == nullptr || (*self)->incarnation_ != incarnation || !(*self)->is_leading()) return;
    if ((*self)->store_hangs()) {
      return (*self)->step_down("the store hangs",
                                unavailable("it has not answered for {}",
                                            format_duration((*self)->patience_with_store())));
    }
    (*self)->tick();
    (*self)->arm_tick();
  });
}

void Controller::apply_bootstrap(Decision& decision) {
  bootstrapped_ = true;
  decision.set_actor("server");
  decision.emit(EpochStarted{term_.epoch, knobs_as_text(knobs_)});
  const ClusterState& state = decision.state();
  // The token comes with its user and never again: one that was revoked stays so.
  if (!bootstrap_.admin_user.empty() && state.find_user(bootstrap_.admin_user) == nullptr) {
    decision.emit(UserSet{{.name = bootstrap_.admin_user, .role = Role::admin}});
    const std::string& hash = bootstrap_.admin_token_hash;
    if (!hash.empty() && state.find_token(hash) == nullptr)
      decision.emit(TokenSet{{hash, bootstrap_.admin_user, "bootstrap", decision.now()}});
  }
  if (!bootstrap_.public_quota_nodes || !state.quotas().empty()) return;
  for (Priority level : kPriorities) {
    decision.emit(QuotaSet{{"public", "*", level, *bootstrap_.public_quota_nodes}});
  }
}

void Controller::arm_renewal() {
  renew_timer_ = loop_.call_after(knobs_.server_lease / 4, [self = self_,
                                                            incarnation = incarnation_] {
    if (*self == nullptr || (*self)->incarnation_ != incarnation || !(*self)->is_leading()) return;
    (*self)->store_.renew(
        (*self)->term_.epoch, (*self)->knobs_.server_lease,
        [self, incarnation](Result<Term> renewed) {
          if (*self == nullptr || (*self)->incarnation_ != incarnation || !(*self)->is_leading())
            return;
          Controller& controller = **self;
          if (renewed.is_ok()) {
            controller.term_ = renewed.value();
            controller.confirmed_at_ = controller.loop_.wall_now();
          } else if (renewed.status().code() == Code::aborted ||
                     controller.loop_.now() >= controller.term_.valid_until) {
            return controller.step_down("its lease could not be renewed", renewed.status());
          }
          controller.arm_renewal();
        });
  });
}

// Everything in memory may be ahead of the store now: the next term loads it again. If the store is
// away, what was durable is still shown to readers.
void Controller::step_down(const std::string& what, const Status& cause) {
  if (mode_ == Mode::stopped) return;
  const std::string why = cause.is_ok() ? what : what + ": " + cause.message();
  if (mode_ != Mode::standby) ++stats_.step_downs;
  if (!cause.is_ok() && cause.code() != Code::aborted) {
    if (!store_away_since_) store_away_since_ = loop_.now();
    if (is_leading()) begin_stale(confirmed_at_);
  }
  mode_ = Mode::standby;
  not_leading_reason_ = why;
  ++incarnation_;
  for (TimerId* timer : {&tick_timer_, &plan_timer_, &renew_timer_, &acquire_timer_})
    loop_.cancel(std::exchange(*timer, 0));
  append_in_flight_ = false;
  plan_wanted_ = false;
  nodes_to_reconcile_.clear();
  // Agents must look for the leader, which may be another server now; this one takes them back if
  // it leads again.
  for (ConnectionId connection : sessions_.close_all()) agents_.close(connection, why);
  refuse_all(why);
  tell_standing();
  // If another server leads, asking at once tells where, which is what people want to know now.
  const Duration pause = cause.code() == Code::aborted ? Duration{0} : knobs_.server_lease / 8;
  acquire_timer_ = loop_.call_after(pause, [self = self_] {
    if (*self != nullptr) (*self)->try_acquire();
  });
}

// What was decided may be in the store or not; what still waited was not begun.
void Controller::refuse_all(const std::string& why) {
  Effects effects = std::exchange(effects_, {});
  urgent_.clear();
  std::deque<Input> inbox = std::exchange(inbox_, {});
  const Status unknown = unavailable(
      "this server has stopped leading: {}; it may or may not have been done, and asking again "
      "with "
      "the same request id is safe",
      why);
  for (const PendingReply& reply : effects.replies) {
    if (reply.refuse) loop_.post([refuse = reply.refuse, unknown] { refuse(unknown); });
  }
  for (const Input& input : inbox) {
    if (input.refuse) {
      loop_.post([self = self_, refuse = input.refuse, why] {
        if (*self != nullptr) refuse(why_not_leading((*self)->standing()));
      });
    }
  }
}

}  // namespace hai
