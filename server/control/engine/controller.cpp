#include "server/control/engine/controller.h"

#include <algorithm>

#include "server/control/engine/decide_tick.h"
#include "server/control/nodes/fencing.h"
#include "server/control/verbs/decide.h"

namespace hai {

static bool is_of_knobs(const Command& command) {
  return std::holds_alternative<SetKnob>(command) || std::holds_alternative<UnsetKnob>(command);
}

static Duration patience_with_store(const Knobs& knobs) { return 2 * knobs.server_lease; }

Controller::Controller(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, Knobs knobs,
                       Bootstrap bootstrap, std::string cluster_name,
                       std::unique_ptr<Planner> planner)
    : loop_(loop),
      agents_(agents),
      config_knobs_(knobs),
      knobs_(knobs),
      bootstrap_(std::move(bootstrap)),
      cluster_name_(std::move(cluster_name)),
      memory_{.planner = std::move(planner)},
      leadership_(loop, store, sink, knobs_, memory_.history, *this, stats_),
      turns_(loop, store, agents, sink, knobs_, leadership_, memory_, *this, stats_),
      passes_(loop, knobs_, memory_, stats_),
      tick_timer_(loop) {}

// ---- terms -------------------------------------------------------------------------------------

void Controller::take_state(StoredState stored) {
  memory_.state = std::make_unique<ClusterState>(std::move(stored));
  ClusterState& state = *memory_.state;
  state.take_touched();
  state.mark_durable();
  if (state.open_incident(kStoreWentBack) != nullptr) memory_.history.found_evidence();
  memory_.sessions.set_term_start(loop_.now());
  // Of this server's clock and the store's the earlier one: a server whose clock is an hour ahead
  // would end every job whose time limit is within the hour.
  const Duration ahead = std::max(leadership_.ahead_of_store(), Duration(0));
  memory_.time.start(loop_.wall_now() - ahead, newest_time(state), loop_.now());
  memory_.progress.clear();
  follow_knobs();
  passes_.begin_term();
  bootstrapped_ = false;
  last_tick_at_.reset();
  hung_ticks_ = 0;
}

// A value that this version does not take is left out: an older or newer server has set it.
void Controller::follow_knobs() {
  knobs_ = config_knobs_;
  for (const auto& [name, setting] : memory_.state->knobs()) {
    if (may_change_while_running(name)) (void)set_knob(knobs_, name, setting.value);
  }
  if (!check_knobs(knobs_).is_ok()) knobs_ = config_knobs_;
}

// The first turn of a term writes the epoch's start and ticks, so that the log says who decided
// from here on.
void Controller::term_began() {
  tick();
  arm_tick();
}

void Controller::term_ended(const std::string& why) {
  // Nobody knows what became of an append that was under way, so what it changed must not show.
  if (leadership_.stale_since() && memory_.state->has_undurable()) {
    memory_.state = std::make_unique<ClusterState>(std::move(*memory_.state).take_durable());
    memory_.planner->update(*memory_.state, memory_.state->take_changes());
    follow_knobs();
  }
  tick_timer_.cancel();
  passes_.end_term();
  nodes_to_reconcile_.clear();
  // Agents must look for the leader, which may be another server now; this one takes them back if
  // it leads again.
  for (ConnectionId connection : memory_.sessions.close_all()) agents_.close(connection, why);
  turns_.end_term(why);
}

void Controller::apply_bootstrap(Decision& decision) {
  bootstrapped_ = true;
  decision.set_actor("server");
  decision.emit(EpochStarted{leadership_.term().epoch, knobs_as_text(knobs_)});
  const ClusterState& state = decision.state();
  // Only where there is no user at all: whoever can write the config makes nobody administrator of
  // a cluster that has people, and quotas that an administrator has removed stay so.
  if (!state.users().empty()) return;
  if (!bootstrap_.admin_user.empty()) {
    decision.emit(UserSet{{.name = bootstrap_.admin_user, .role = Role::admin}});
    const std::string& hash = bootstrap_.admin_token_hash;
    if (!hash.empty() && state.find_token(hash) == nullptr) {
      decision.emit(TokenSet{{.hash = hash,
                              .user = bootstrap_.admin_user,
                              .label = "bootstrap",
                              .created_at = decision.now(),
                              .expires_at = decision.now() + bootstrap_.admin_token_ttl}});
    }
  }
  if (!bootstrap_.public_quota_nodes || !state.quotas().empty()) return;
  for (Priority level : kPriorities) {
    decision.emit(QuotaSet{{"public", "*", level, *bootstrap_.public_quota_nodes}});
  }
}

// ---- time --------------------------------------------------------------------------------------

void Controller::arm_tick() {
  tick_timer_.arm(knobs_.plan_period, [this] {
    if (store_hangs()) {
      return leadership_.step_down(
          "the store hangs",
          unavailable("it has not answered for {}", format_duration(patience_with_store(knobs_))));
    }
    tick();
    arm_tick();
  });
}

// Asked with each tick, so that a process that was paused itself does not blame the store. A turn
// that takes so long has lost its lease long ago; its append may still end well, but readers have
// waited enough.
bool Controller::store_hangs() {
  const bool is_same_turn = turns_.is_appending() && stats_.turns == turn_of_last_tick_;
  turn_of_last_tick_ = stats_.turns;
  const bool is_late = is_same_turn || loop_.now() > leadership_.term().valid_until;
  hung_ticks_ = is_late ? hung_ticks_ + 1 : 0;
  return hung_ticks_ * knobs_.plan_period >= patience_with_store(knobs_);
}

void Controller::tick() {
  const MonoTime now = loop_.now();
  if (last_tick_at_ && now - *last_tick_at_ > 2 * knobs_.plan_period + 1s) {
    memory_.sessions.was_deaf_until(now);
  }
  last_tick_at_ = now;
  turns_.post_urgent([this](Decision& decision) {
    decision.set_actor("server");
    decide_tick(decision, memory_.sessions, loop_.now(), knows_history());
    decide_lost_history(decision, memory_.history);
    passes_.want();  // Time alone can make a job eligible.
    for (const auto& [connection, session] : memory_.sessions.all()) {
      if (session.node && !session.sent.empty()) nodes_to_reconcile_.insert(session.node);
    }
  });
}

// ---- people ------------------------------------------------------------------------------------

void Controller::submit(Caller caller, Command command, Reply reply) {
  auto shared = std::make_shared<Reply>(std::move(reply));
  auto refuse = [shared](Status why) { (*shared)(why); };
  turns_.post({[this, caller = std::move(caller), command = std::move(command), shared,
                refuse](Decision& decision) {
                 Result<CommandReply> result = decide_command(decision, caller, completed(command));
                 if (is_of_knobs(command)) follow_knobs();
                 turns_.reply([shared, result] { (*shared)(result); }, refuse);
               },
               refuse});
}

Result<CommandReply> Controller::decide_command(Decision& decision, const Caller& caller,
                                                const Command& command) const {
  Result<Actor> actor = authenticate(decision.state(), caller, decision.now());
  if (!actor.is_ok()) return actor.status();
  if (actor.value().scope == TokenScope::read) {
    return permission_denied("this token may read only: its scope is read");
  }
  decision.set_actor(actor.value().user);
  RETURN_IF_ERROR(check_contact(command, actor.value()));
  const size_t before = decision.events().size();
  auto decided =
      std::visit([&](const auto& body) { return decide(decision, body, actor.value()); }, command);
  CHECK(decided.is_ok() || decision.events().size() == before);
  return decided;
}

// What only the leader knows of a command.
Command Controller::completed(Command command) const {
  auto* unset = std::get_if<UnsetKnob>(&command);
  if (unset != nullptr && check_knob_name(unset->name).is_ok()) {
    unset->value = get_knob(config_knobs_, unset->name);
  }
  return command;
}

// What no decide() can know: whether the agents are in contact. Who may not fence hears that first.
Status Controller::check_contact(const Command& command, const Actor& actor) const {
  const auto* fence = std::get_if<FenceNode>(&command);
  const Node* node =
      fence == nullptr || !actor.is_operator() ? nullptr : memory_.state->find_node(fence->node);
  return node == nullptr ? ok() : check_silent(memory_.sessions, knobs_, *node, loop_.now());
}

struct Controller::Reading {
  Caller caller;
  std::function<void(const ReadContext&, const Actor&)> read;
  std::function<void(Status)> refuse;
};

// Who leads answers with what is durable now; who has lost the store answers with what was durable
// then, and says so; everybody else says who leads.
void Controller::read(Caller caller, std::function<void(const ReadContext&, const Actor&)> read,
                      std::function<void(Status)> refuse) {
  auto reading = std::make_shared<const Reading>(
      Reading{std::move(caller), std::move(read), std::move(refuse)});
  // Also one that waited when the store went away.
  auto answered_as_stale = scope_.bind([this, reading] {
    if (leadership_.stale_since()) answer(*reading);
    return leadership_.stale_since().has_value();
  });
  auto refused = [reading, answered_as_stale](const Status& why) {
    if (!answered_as_stale()) reading->refuse(why);
  };
  turns_.post({[this, reading, refused](Decision&) {
                 turns_.reply([this, reading] { answer(*reading); }, refused);
               },
               refused});
}

void Controller::answer(const Reading& reading) const {
  Result<Actor> actor = authenticate(*memory_.state, reading.caller, loop_.wall_now());
  if (!actor.is_ok()) return reading.refuse(actor.status());
  reading.read(ReadContext{*memory_.state, soft_facts(), cluster_name_, leadership_.stale_since()},
               actor.value());
}

// ---- turns -------------------------------------------------------------------------------------

void Controller::begin_turn(Decision& decision) {
  if (!bootstrapped_) apply_bootstrap(decision);
}

void Controller::end_turn(Decision& decision) {
  note_events(decision.events());
  for (const Event& event : decision.events()) {
    if (has_trait(event.body, kChangesPlan)) passes_.want();
  }
  passes_.note_who_was_heard();
  if (passes_.is_due()) {
    const size_t before = decision.events().size();
    passes_.run(decision);
    note_events(std::span(decision.events()).subspan(before));
  }
  collect_orders();
}

void Controller::no_turn_follows() {
  passes_.wake_when_due([this] { turns_.pump(); });
}

void Controller::note_events(std::span<const Event> events) {
  for (const Event& event : events) {
    if (std::holds_alternative<JobFinished>(event.body)) {
      memory_.progress.erase(job_of(event.body));
    }
    if (!has_trait(event.body, kOrdersAgents)) continue;
    const Job* job = memory_.state->find(job_of(event.body));
    if (job == nullptr || !job->attempt) continue;
    for (const Rank& rank : job->attempt->ranks) nodes_to_reconcile_.insert(rank.place.node);
  }
}

}  // namespace hai
