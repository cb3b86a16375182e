// Controller, the part about agents: whom it takes, what they report, and what they are told.

#include "server/control/engine/controller.h"
#include "server/control/engine/reconcile.h"
#include "server/control/health/decide_repair.h"
#include "server/control/nodes/agent_admission.h"
#include "server/control/nodes/decide_peers.h"
#include "server/control/nodes/decide_report.h"
#include "server/control/nodes/fencing.h"

namespace hai {

Status Controller::admit_agent(const std::string& node_name, const AgentIdentity& identity) {
  if (!is_leading()) return unavailable("{}", leadership_.standing().reason);
  const MonoTime now = loop_.now();
  Status admitted = check_owner(
      node_name,
      owner_of_name(*memory_.state, memory_.sessions, knobs_, node_name, now, knows_history()),
      identity);
  if (!admitted.is_ok())
    memory_.sessions.refused[node_name] = {now, kNameTaken, admitted.message()};
  return admitted;
}

void Controller::agent_connected(ConnectionId connection, const std::string& node_name,
                                 const AgentIdentity& identity) {
  const Status admitted = admit_agent(node_name, identity);
  if (!admitted.is_ok()) return agents_.close(connection, admitted.message());
  ConnectionId replaced = memory_.sessions.open(connection, node_name, identity, loop_.now());
  if (replaced) agents_.close(replaced, "the node has connected again");
}

void Controller::disbelieve(ConnectionId connection, const std::string& reason) {
  if (const Session* session = memory_.sessions.find(connection))
    memory_.sessions.refused[session->node_name] = {loop_.now(), kNotBelieved, reason};
  agents_.close(connection, reason);
}

// False if the report is not to be taken: its agent is cut off, or this term is over.
bool Controller::hear(ConnectionId connection, const AgentReport& report) {
  const int64_t epoch = leadership_.term().epoch.value;
  const int64_t seen = report.seen.epoch.value;
  if (!memory_.history.believes(report.seen)) {
    disbelieve(connection, fmt::format("{} says that it has seen epoch {}, and this is {}: that is "
                                       "not believed; is it this cluster's agent?",
                                       report.node, seen, epoch));
    return false;
  }
  switch (memory_.history.heard(report.node, report.seen, loop_.now())) {
    case LostHistory::Word::goes_on:
      return true;
    case LostHistory::Word::ends_term:
      leadership_.step_down("its epoch is not the highest",
                            aborted("{} has seen epoch {}, this is {}", report.node, seen, epoch));
      return false;
    case LostHistory::Word::not_taken:
      disbelieve(connection,
                 fmt::format("{} says that it has seen line {} of epoch {}, and this is {}: its "
                             "word ended a term minutes ago, and no other node says so",
                             report.node, report.seen.seq, seen, epoch));
      return false;
  }
  return false;
}

void Controller::agent_report(ConnectionId connection, AgentReport report) {
  if (is_leading() && !hear(connection, report)) return;
  turns_.post_urgent([this, connection, report = std::move(report)](Decision& decision) {
    take_report(decision, connection, report);
  });
}

void Controller::agent_disconnected(ConnectionId connection) {
  Session* session = memory_.sessions.find(connection);
  if (session == nullptr) return;
  NodeId node = session->node;
  memory_.sessions.close(connection);
  if (!node) return;
  turns_.post_urgent([this, node](Decision& decision) {
    const Node* found = decision.state().find(node);
    if (found == nullptr || found->liveness != Liveness::up ||
        memory_.sessions.find(node) != nullptr)
      return;
    decision.set_actor("server");
    decision.emit(NodeLivenessChanged{node, Liveness::suspect, "its stream broke"});
  });
}

void Controller::take_report(Decision& decision, ConnectionId connection,
                             const AgentReport& report) {
  Session* session = memory_.sessions.find(connection);
  if (session == nullptr || report.sequence <= session->last_sequence) return;
  ++stats_.reports;
  session->last_sequence = report.sequence;
  decision.set_actor("agent:" + session->node_name);
  // Of a node that was removed meanwhile: what reports is a new one.
  const bool is_removed =
      session->node && decision.state().find(session->node)->removed_at.has_value();
  if (!session->node || report.facts || is_removed) {
    Status status = decide_registration(decision, memory_.sessions, *session, report);
    if (!status.is_ok()) {
      turns_.send({{}, connection, RefuseAgent{status.message()}});
      return;
    }
  }
  decide_report(decision, *session, report);
  if (report.gpu_readings) session->gpu_readings = *report.gpu_readings;
  if (has_rank_of_lost_history(*memory_.state, report)) memory_.history.found_evidence();
  // It may be the last one that was waited for.
  if (loop_.now() - memory_.sessions.term_start() < listening_time(knobs_)) passes_.want();
  if (!knows_history()) {
    // Durable before what hides the signs of it from the next leader: numbers that are skipped, and
    // the orders of this turn, by which the node forgets how far the lost log went.
    decide_lost_history(decision, memory_.history);
    skip_attempts_of_strays(decision, *session);
  }
  note_progress(report);
  nodes_to_reconcile_.insert(session->node);
  memory_.sessions.report_confirms(*session, report.sequence, report.granted_sequence,
                                   knobs_.agent_lease, loop_.now());
  answer_report(*session, report);
  tell_peers(*session);
  for (OrderBody& order :
       repair_orders(*memory_.state, knobs_, *session, decision.now(), loop_.now())) {
    turns_.send({session->node, connection, std::move(order)});
  }
}

void Controller::answer_report(const Session& session, const AgentReport& report) {
  if (report.is_news_only && !needs_grant(memory_.sessions, knobs_, session.node, loop_.now()))
    return;
  turns_.send({session.node, session.connection,
               GrantLease{report.sequence, knobs_.agent_lease, knobs_.heartbeat,
                          fence_after(knobs_), loop_.wall_now()}});
}

// Until the node says that it goes by the latest list, and when a peer's address has changed.
void Controller::tell_peers(Session& session) {
  const Node& node = *memory_.state->find(session.node);
  if (node.peers.version == 0) return;
  NamePeers order = peers_order(*memory_.state, node);
  if (session.peers_version == order.version && session.peers_told == order) return;
  session.peers_told = order;
  turns_.send({session.node, session.connection, std::move(order)});
}

void Controller::note_progress(const AgentReport& report) {
  for (const RankStatus& status : report.ranks) {
    const Job* job = memory_.state->find(status.key.job);
    if (!status.progress_step || job == nullptr || job->attempt_number() != status.key.attempt)
      continue;
    int64_t& step = memory_.progress[status.key.job];
    step = std::max(step, *status.progress_step);
  }
}

void Controller::collect_orders() {
  PlacesOfTurn places;
  std::set<ConnectionId> addressed;
  for (const TurnOrder& order : turns_.orders()) addressed.insert(order.connection);
  for (NodeId node : std::exchange(nodes_to_reconcile_, {})) {
    Session* session = memory_.sessions.find(node);
    if (session == nullptr || !session->has_reported) continue;
    const TurnOfNode turn{turns_.decision_time(), loop_.now(),
                          addressed.contains(session->connection), is_listening()};
    for (OrderBody& body : reconcile(*memory_.state, knobs_, *session, turn, places)) {
      turns_.send({node, session->connection, std::move(body)});
    }
  }
}

bool Controller::may_leave(const TurnOrder& order) const {
  if (!std::holds_alternative<LaunchRank>(order.body)) return true;
  return !is_listening() && may_launch(memory_.sessions, knobs_, order.node, loop_.now());
}

}  // namespace hai
