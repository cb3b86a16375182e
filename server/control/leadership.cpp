// Controller, the part about terms: winning one, keeping it, giving it up.

#include "server/control/controller.h"

namespace hai {

Controller::Controller(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, Knobs knobs,
                       Bootstrap bootstrap, std::string cluster_name, std::unique_ptr<Planner> planner)
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
  step_down("shutting down");
  mode_ = Mode::stopped;
  loop_.cancel(std::exchange(acquire_timer_, 0));
  if (!led) return loop_.post(std::move(done));
  store_.release(term_.epoch, std::move(done));
}

void Controller::try_acquire() {
  acquire_timer_ = 0;
  store_.acquire(knobs_.server_lease, [self = self_](Result<Term> term) {
    if (*self == nullptr || (*self)->mode_ != Mode::standby) return;
    Controller& controller = **self;
    if (!term.is_ok()) {
      controller.not_leading_reason_ = term.status().message();
      controller.acquire_timer_ =
          controller.loop_.call_after(controller.knobs_.server_lease / 8, [self] {
            if (*self != nullptr) (*self)->try_acquire();
          });
      return;
    }
    controller.mode_ = Mode::loading;
    controller.not_leading_reason_ = "loading its state";
    controller.term_ = term.value();
    ++controller.incarnation_;
    controller.store_.load(
        [self, incarnation = controller.incarnation_](Result<StoredState> stored) {
          if (*self == nullptr || (*self)->incarnation_ != incarnation) return;
          (*self)->loaded(std::move(stored));
        });
  });
}

void Controller::loaded(Result<StoredState> stored) {
  if (!stored.is_ok()) return step_down("loading failed: " + stored.status().message());
  state_ = std::make_unique<ClusterState>(std::move(stored).value());
  state_->take_touched();
  sessions_.set_term_start(loop_.now());
  progress_.clear();
  bootstrapped_ = false;
  last_pass_at_.reset();
  mode_ = Mode::leading;
  not_leading_reason_.clear();
  arm_renewal();
  // The first turn of a term writes the epoch's start and ticks, so that the log says who decided
  // from here on.
  tick();
  arm_tick();
}

void Controller::arm_tick() {
  tick_timer_ = loop_.call_after(knobs_.plan_period, [self = self_, incarnation = incarnation_] {
    if (*self == nullptr || (*self)->incarnation_ != incarnation || !(*self)->is_leading()) return;
    (*self)->tick();
    (*self)->arm_tick();
  });
}

void Controller::apply_bootstrap(Decision& decision) {
  bootstrapped_ = true;
  decision.set_actor("server");
  decision.emit(EpochStarted{term_.epoch, knobs_as_text(knobs_)});
  const ClusterState& state = decision.state();
  if (!bootstrap_.admin_user.empty() && state.find_user(bootstrap_.admin_user) == nullptr) {
    decision.emit(UserSet{{.name = bootstrap_.admin_user, .role = Role::admin}});
  }
  if (!bootstrap_.admin_token_hash.empty() &&
      state.find_token(bootstrap_.admin_token_hash) == nullptr) {
    decision.emit(TokenSet{
        {bootstrap_.admin_token_hash, bootstrap_.admin_user, "bootstrap", decision.now()}});
  }
  if (!bootstrap_.public_quota_nodes || !state.quotas().empty()) return;
  for (Priority level : kPriorities) {
    decision.emit(QuotaSet{{"public", "*", level, *bootstrap_.public_quota_nodes}});
  }
}

void Controller::arm_renewal() {
  renew_timer_ =
      loop_.call_after(knobs_.server_lease / 4, [self = self_, incarnation = incarnation_] {
        if (*self == nullptr || (*self)->incarnation_ != incarnation || !(*self)->is_leading())
          return;
        (*self)->store_.renew((*self)->term_.epoch, (*self)->knobs_.server_lease,
                              [self, incarnation](Result<Term> renewed) {
                                if (*self == nullptr || (*self)->incarnation_ != incarnation ||
                                    !(*self)->is_leading())
                                  return;
                                Controller& controller = **self;
                                if (renewed.is_ok()) {
                                  controller.term_ = renewed.value();
                                } else if (renewed.status().code() == Code::aborted ||
                                           controller.loop_.now() >= controller.term_.valid_until) {
                                  return controller.step_down("its lease could not be renewed: " +
                                                              renewed.status().message());
                                }
                                controller.arm_renewal();
                              });
      });
}

// Everything in memory may be ahead of the store now: it is thrown away, and the next term loads it
// again.
void Controller::step_down(const std::string& why) {
  if (mode_ == Mode::stopped) return;
  if (mode_ != Mode::standby) ++stats_.step_downs;
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
  refuse_all(unavailable("this server has stopped leading: {}; retry", why));
  acquire_timer_ = loop_.call_after(knobs_.server_lease / 8, [self = self_] {
    if (*self != nullptr) (*self)->try_acquire();
  });
}

void Controller::refuse_all(const Status& why) {
  Effects effects = std::exchange(effects_, {});
  std::deque<Input> inbox = std::exchange(inbox_, {});
  for (const PendingReply& reply : effects.replies) {
    if (reply.refuse) loop_.post([refuse = reply.refuse, why] { refuse(why); });
  }
  for (const Input& input : inbox) {
    if (input.refuse) loop_.post([refuse = input.refuse, why] { refuse(why); });
  }
}

}  // namespace hai
