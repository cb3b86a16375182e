#include "server/control/engine/controller.h"

#include "server/control/engine/decide_tick.h"
#include "server/control/engine/reconcile.h"
#include "server/control/health/decide_repair.h"
#include "server/control/nodes/agent_admission.h"
#include "server/control/nodes/decide_peers.h"
#include "server/control/nodes/decide_report.h"
#include "server/control/nodes/fencing.h"
#include "server/plan/carry_out.h"
#include "server/plan/planner.h"

namespace hai {

// ---- inputs ------------------------------------------------------------------------------------

void Controller::submit(Caller caller, Command command, Reply reply) {
  auto shared = std::make_shared<Reply>(std::move(reply));
  post_input({[this, caller = std::move(caller), command = std::move(command),
               shared](Decision& decision) {
                Result<Actor> actor = authenticate(decision.state(), caller);
                Result<CommandReply> result = !actor.is_ok() ? Result<CommandReply>(actor.status())
                                                             : [&]() -> Result<CommandReply> {
                  decision.set_actor(actor.value().user);
                  size_t before = decision.events().size();
                  if (Status status = check_contact(command, actor.value()); !status.is_ok()) {
                    return status;
                  }
                  auto decided = std::visit(
                      [&](const auto& body) { return decide(decision, body, actor.value()); },
                      command);
                  CHECK(decided.is_ok() || decision.events().size() == before);
                  return decided;
                }();
                effects_.replies.push_back({[shared, result] { (*shared)(result); },
                                            [shared](Status why) { (*shared)(why); }});
              },
              [shared](Status why) { (*shared)(why); }});
}

// What no decide() can know: whether the agents are in contact. Who may not fence hears that first.
Status Controller::check_contact(const Command& command, const Actor& actor) const {
  const auto* fence = std::get_if<FenceNode>(&command);
  const Node* node =
      fence == nullptr || !actor.is_operator() ? nullptr : state_->find_node(fence->node);
  return node == nullptr ? ok() : check_silent(sessions_, knobs_, *node, loop_.now());
}

Status Controller::admit_agent(const std::string& node_name, const AgentIdentity& identity) {
  if (!is_leading()) return unavailable("{}", not_leading_reason_);
  const MonoTime now = loop_.now();
  Status admitted = check_owner(
      node_name, owner_of_name(*state_, sessions_, knobs_, node_name, now, knows_history()),
      identity);
  if (!admitted.is_ok()) sessions_.refused[node_name] = {now, admitted.message()};
  return admitted;
}

void Controller::agent_connected(ConnectionId connection, const std::string& node_name,
                                 const AgentIdentity& identity) {
  const Status admitted = admit_agent(node_name, identity);
  if (!admitted.is_ok()) return agents_.close(connection, admitted.message());
  ConnectionId replaced = sessions_.open(connection, node_name, identity, loop_.now());
  if (replaced) agents_.close(replaced, "the node has connected again");
}

void Controller::refuse(ConnectionId connection, const std::string& reason) {
  if (const Session* session = sessions_.find(connection))
    sessions_.refused[session->node_name] = {loop_.now(), reason};
  agents_.close(connection, reason);
}

void Controller::agent_report(ConnectionId connection, AgentReport report) {
  if (is_leading() && !history_.believes(report.seen)) {
    return refuse(connection, fmt::format("{} says that it has seen epoch {}, and this is {}: that "
                                          "is not believed; is it this cluster's agent?",
                                          report.node, report.seen.epoch.value, term_.epoch.value));
  }
  if (is_leading() && !history_.heard(report.seen)) {
    return step_down("its epoch is not the highest",
                     aborted("{} has seen epoch {}, this is {}", report.node,
                             report.seen.epoch.value, term_.epoch.value));
  }
  post_urgent([this, connection, report = std::move(report)](Decision& decision) {
    take_report(decision, connection, report);
  });
}

void Controller::agent_disconnected(ConnectionId connection) {
  Session* session = sessions_.find(connection);
  if (session == nullptr) return;
  NodeId node = session->node;
  sessions_.close(connection);
  if (!node) return;
  post_urgent([this, node](Decision& decision) {
    const Node* found = decision.state().find(node);
    if (found == nullptr || found->liveness != Liveness::up || sessions_.find(node) != nullptr)
      return;
    decision.set_actor("server");
    decision.emit(NodeLivenessChanged{node, Liveness::suspect, "its stream broke"});
  });
}

void Controller::take_report(Decision& decision, ConnectionId connection,
                             const AgentReport& report) {
  Session* session = sessions_.find(connection);
  if (session == nullptr || report.sequence <= session->last_sequence) return;
  ++stats_.reports;
  session->last_sequence = report.sequence;
  decision.set_actor("agent:" + session->node_name);
  if (!session->node || report.facts) {
    Status status = decide_registration(decision, sessions_, *session, report);
    if (!status.is_ok()) {
      effects_.orders.push_back({{}, connection, RefuseAgent{status.message()}});
      return;
    }
  }
  decide_report(decision, *session, report);
  if (report.gpu_readings) session->gpu_readings = *report.gpu_readings;
  if (has_rank_of_lost_history(*state_, report)) history_.found_evidence();
  // It may be the last one that was waited for.
  if (loop_.now() - sessions_.term_start() < listening_time(knobs_)) plan_wanted_ = true;
  if (!knows_history()) skip_attempts_of_strays(decision, *session);
  note_progress(report);
  nodes_to_reconcile_.insert(session->node);
  sessions_.report_confirms(*session, report.sequence, report.granted_sequence, knobs_.agent_lease,
                            loop_.now());
  if (!report.is_news_only || needs_grant(sessions_, knobs_, session->node, loop_.now())) {
    effects_.orders.push_back({session->node, connection,
                               GrantLease{report.sequence, knobs_.agent_lease, knobs_.heartbeat,
                                          fence_after(knobs_), loop_.wall_now()}});
  }
  tell_peers(*session);
  for (OrderBody& order : repair_orders(*state_, knobs_, *session, decision.now(), loop_.now())) {
    effects_.orders.push_back({session->node, connection, std::move(order)});
  }
}

// Until the node says that it goes by the latest list, and when a peer's address has changed.
void Controller::tell_peers(Session& session) {
  const Node& node = *state_->find(session.node);
  if (node.peers.version == 0) return;
  NamePeers order = peers_order(*state_, node);
  if (session.peers_version == order.version && session.peers_told == order) return;
  session.peers_told = order;
  effects_.orders.push_back({session.node, session.connection, std::move(order)});
}

void Controller::note_progress(const AgentReport& report) {
  for (const RankStatus& status : report.ranks) {
    const Job* job = state_->find(status.key.job);
    if (!status.progress_step || job == nullptr || job->attempt_number() != status.key.attempt)
      continue;
    int64_t& step = progress_[status.key.job];
    step = std::max(step, *status.progress_step);
  }
}

void Controller::post_input(Input input) {
  if (!is_leading() || inbox_.size() >= kInboxMax) {
    if (!input.refuse) return;
    Status why = is_leading()
                     ? resource_exhausted("{} requests are waiting already; retry in a second",
                                          inbox_.size())
                     : why_not_leading(standing());
    loop_.post([refuse = std::move(input.refuse), why] { refuse(why); });
    return;
  }
  inbox_.push_back(std::move(input));
  pump();
}

void Controller::post_urgent(std::function<void(Decision&)> decide) {
  if (!is_leading() || urgent_.size() >= kInboxMax) return;  // the next report says it again
  urgent_.push_back({std::move(decide), nullptr});
  pump();
}

// What people ask for gets its share of each turn even if reports alone fill it.
int Controller::share_of_people(int batch_max) { return std::max(1, batch_max / 4); }

Controller::Input Controller::take_input(int taken) {
  const bool is_turn_of_people = urgent_.empty() || taken >= knobs_.append_batch_max;
  std::deque<Input>& line = is_turn_of_people ? inbox_ : urgent_;
  Input input = std::move(line.front());
  line.pop_front();
  return input;
}

// ---- turns -------------------------------------------------------------------------------------

// Runs the next turn from the loop, so that inputs of the same moment share it.
void Controller::pump() {
  if (pump_posted_ || append_in_flight_ || !is_leading()) return;
  pump_posted_ = true;
  loop_.post([self = self_] {
    if (*self == nullptr) return;
    Controller& controller = **self;
    controller.pump_posted_ = false;
    if (controller.is_leading() && !controller.append_in_flight_) controller.run_turn();
  });
}

void Controller::run_turn() {
  if (waiting_inputs() == 0 && !pass_is_due()) return;
  ++stats_.turns;
  Decision decision(*state_, knobs_, decision_time());
  if (!bootstrapped_) apply_bootstrap(decision);
  const int max = knobs_.append_batch_max;
  int taken = 0;
  for (; taken < max && !urgent_.empty(); ++taken) take_input(taken).decide(decision);
  const int end = std::max(taken + share_of_people(max), max);
  for (; taken < end && !inbox_.empty(); ++taken) take_input(max).decide(decision);
  stats_.inputs += taken;
  note_events(decision.events());
  note_who_was_heard();
  if (pass_is_due()) run_pass(decision);
  collect_orders();
  std::vector<Event> events = decision.take_events();
  stats_.events += static_cast<int64_t>(events.size());
  append_in_flight_ = true;
  if (events.empty()) return release_when_sure();
  AppendBatch batch = make_batch();
  batch.events = events;
  effects_.events = std::move(events);
  append(std::move(batch), loop_.now());
}

void Controller::note_who_was_heard() {
  if (!heard_all_) heard_all_ = has_heard_all(*state_, sessions_, knobs_, loop_.now());
}

bool Controller::pass_is_due() const {
  return plan_wanted_ && (!last_pass_at_ || loop_.now() - *last_pass_at_ >= pass_gap());
}

// Planning takes at most a quarter of the thread, however long a pass is.
Duration Controller::pass_gap() const { return std::max(knobs_.plan_gap, 4 * stats_.last_pass); }

void Controller::run_pass(Decision& decision) {
  plan_wanted_ = false;
  last_pass_at_ = loop_.now();
  if (!knows_history()) {
    const bool all_known = are_all_nodes_known(*state_, sessions_);
    if (!history_.settles(all_known, loop_.now(), time_to_settle(knobs_))) return;
  }
  if (is_listening()) return;
  ++stats_.passes;
  planner_->update(*state_, state_->take_changes());
  Plan plan = planner_->pass(*state_, knobs_, decision.now());
  stats_.last_pass = loop_.now() - *last_pass_at_;
  note_pass();
  size_t before = decision.events().size();
  carry_out(decision, plan);
  planner_->update(*state_, state_->take_changes());
  note_events(
      {decision.events().begin() + static_cast<ptrdiff_t>(before), decision.events().end()});
  // What a pass decides is complete: its own events ask for no other.
  plan_wanted_ = plan.is_partial;
}

void Controller::note_events(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (has_trait(event.body, kChangesPlan)) plan_wanted_ = true;
    if (std::holds_alternative<JobFinished>(event.body)) progress_.erase(job_of(event.body));
    if (!has_trait(event.body, kOrdersAgents)) continue;
    const Job* job = state_->find(job_of(event.body));
    if (job == nullptr || !job->attempt) continue;
    for (const Rank& rank : job->attempt->ranks) nodes_to_reconcile_.insert(rank.place.node);
  }
}

void Controller::collect_orders() {
  PlacesOfTurn places;
  std::set<ConnectionId> addressed;
  for (const Order& order : effects_.orders) addressed.insert(order.connection);
  for (NodeId node : std::exchange(nodes_to_reconcile_, {})) {
    Session* session = sessions_.find(node);
    if (session == nullptr || !session->has_reported) continue;
    const TurnOfNode turn{decision_time(), loop_.now(), addressed.contains(session->connection)};
    for (OrderBody& body : reconcile(*state_, knobs_, *session, turn, places)) {
      effects_.orders.push_back({node, session->connection, std::move(body)});
    }
  }
}

AppendBatch Controller::make_batch() {
  AppendBatch batch{.epoch = term_.epoch};
  Touched touched = state_->take_touched();
  for (JobId id : touched.jobs) {
    if (const Job* job = state_->find(id)) batch.jobs.push_back(*job);
  }
  batch.replaced_attempts = std::move(touched.replaced_attempts);
  for (NodeId id : touched.nodes) batch.nodes.push_back(*state_->find(id));
  for (const std::string& name : touched.users) batch.users.push_back(*state_->find_user(name));
  for (const auto& key : touched.quotas) {
    auto it = state_->quotas().find(key);
    if (it != state_->quotas().end()) {
      batch.quotas.push_back(it->second);
    } else {
      batch.removed_quotas.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), 0});
    }
  }
  for (const std::string& hash : touched.tokens) {
    if (const Token* token = state_->find_token(hash)) {
      batch.tokens.push_back(*token);
    } else {
      batch.removed_tokens.push_back(hash);
    }
  }
  for (IncidentId id : touched.incidents) batch.incidents.push_back(state_->incidents().at(id));
  for (Incident& closed : touched.closed_incidents) batch.incidents.push_back(std::move(closed));
  return batch;
}

void Controller::append(AppendBatch batch, MonoTime started) {
  const int64_t last_seq = batch.events.back().seq;
  store_.append(std::move(batch),
                [self = self_, term = incarnation_, started, last_seq](Status status) {
                  if (*self == nullptr || (*self)->incarnation_ != term) return;
                  Controller& controller = **self;
                  controller.note_append(started);
                  if (!status.is_ok()) return controller.step_down("an append failed", status);
                  controller.state_->mark_durable();
                  controller.history_.appended({controller.term_.epoch, last_seq});
                  controller.release_when_sure();
                });
}

// Nothing leaves a server that can't be sure to lead still: a paused process must not speak for its
// old term.
void Controller::release_when_sure() {
  if (loop_.now() < term_.valid_until) return release();
  store_.renew(term_.epoch, knobs_.server_lease,
               [self = self_, term = incarnation_](Result<Term> renewed) {
                 if (*self == nullptr || (*self)->incarnation_ != term) return;
                 Controller& controller = **self;
                 if (!renewed.is_ok())
                   return controller.step_down("its lease ended", renewed.status());
                 controller.term_ = renewed.value();
                 controller.confirmed_at_ = controller.loop_.wall_now();
                 controller.release_when_sure();
               });
}

void Controller::release() {
  Effects effects = std::exchange(effects_, {});
  if (sink_ != nullptr && !effects.events.empty()) sink_->durable(effects.events, *state_);
  note_who_was_heard();
  for (const Order& order : effects.orders) {
    Session* session = sessions_.find(order.connection);
    if (session == nullptr) continue;
    if (std::holds_alternative<LaunchRank>(order.body) &&
        (is_listening() || !may_launch(sessions_, knobs_, order.node, loop_.now()))) {
      continue;  // It is sent again when it is still wanted then.
    }
    if (auto* grant = std::get_if<GrantLease>(&order.body))
      sessions_.grant_leaves(*session, grant->report_sequence, loop_.now());
    ++stats_.orders;
    agents_.send(order.connection, {term_.epoch, order.body, history_.durable_seq()});
    if (auto* refusal = std::get_if<RefuseAgent>(&order.body))
      agents_.close(order.connection, refusal->reason);
  }
  for (const PendingReply& reply : effects.replies) reply.deliver();
  state_->evict_finished(static_cast<size_t>(knobs_.finished_jobs_kept));
  append_in_flight_ = false;
  if (waiting_inputs() > 0 || pass_is_due()) {
    pump();
  } else if (plan_wanted_) {
    arm_plan_timer();
  }
}

void Controller::arm_plan_timer() {
  if (plan_timer_ != 0) return;
  Duration wait = std::max(Duration{0}, pass_gap() - (loop_.now() - *last_pass_at_));
  plan_timer_ = loop_.call_after(wait, [self = self_] {
    if (*self == nullptr) return;
    (*self)->plan_timer_ = 0;
    (*self)->pump();
  });
}

void Controller::tick() {
  const MonoTime now = loop_.now();
  if (last_tick_at_ && now - *last_tick_at_ > 2 * knobs_.plan_period + 1s) {
    sessions_.was_deaf_until(now);
  }
  last_tick_at_ = now;
  post_urgent([this](Decision& decision) {
    decision.set_actor("server");
    decide_tick(decision, sessions_, loop_.now(), knows_history());
    decide_lost_history(decision, history_);
    plan_wanted_ = true;  // Time alone can make a job eligible.
    for (const auto& [connection, session] : sessions_.all()) {
      if (session.node && !session.sent.empty()) nodes_to_reconcile_.insert(session.node);
    }
  });
}

}  // namespace hai
