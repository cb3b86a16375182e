#include "server/control/sessions.h"

#include <algorithm>

namespace hai {

ConnectionId Sessions::open(ConnectionId connection, const std::string& node_name,
                            const AgentIdentity& identity, MonoTime now) {
  ConnectionId replaced;
  if (auto it = by_name_.find(node_name); it != by_name_.end()) {
    replaced = it->second;
    close(replaced);
  }
  sessions_.insert_or_assign(connection, Session{.connection = connection,
                                                 .node_name = node_name,
                                                 .identity = identity,
                                                 .opened_at = now,
                                                 .words_paid = words_paid_});
  by_name_[node_name] = connection;
  return replaced;
}

void Sessions::close(ConnectionId connection) {
  auto it = sessions_.find(connection);
  if (it == sessions_.end()) return;
  by_name_.erase(it->second.node_name);
  if (const NodeId node = it->second.node) {
    set_contact(node, contact(node));
    by_node_.erase(node);
    checks_paid_until_[node] = it->second.checks_paid_until;
  }
  sessions_.erase(it);
}

std::vector<ConnectionId> Sessions::close_all() {
  std::vector<ConnectionId> connections;
  for (const auto& [connection, session] : sessions_) connections.push_back(connection);
  sessions_.clear();
  by_name_.clear();
  by_node_.clear();
  return connections;
}

Session* Sessions::find(ConnectionId connection) {
  auto it = sessions_.find(connection);
  return it == sessions_.end() ? nullptr : &it->second;
}

Session* Sessions::find(NodeId node) {
  auto it = by_node_.find(node);
  return it == by_node_.end() ? nullptr : find(it->second);
}

const Session* Sessions::find(NodeId node) const { return const_cast<Sessions*>(this)->find(node); }

const Session* Sessions::find(const std::string& node_name) const {
  auto it = by_name_.find(node_name);
  return it == by_name_.end() ? nullptr : &sessions_.at(it->second);
}

void Sessions::bind(Session& session, NodeId node) {
  if (session.node && session.node != node) by_node_.erase(session.node);
  if (const auto known = checks_paid_until_.find(node); known != checks_paid_until_.end()) {
    session.checks_paid_until = std::max(session.checks_paid_until, known->second);
    checks_paid_until_.erase(known);
  }
  session.node = node;
  by_node_[node] = session.connection;
}

MonoTime Sessions::contact(NodeId node) const {
  auto it = contact_.find(node);
  const MonoTime own = std::max(deaf_until_, it == contact_.end() ? term_start_ : it->second);
  return heard_connected_at_ > own && by_node_.contains(node) ? heard_connected_at_ : own;
}

void Sessions::grant_leaves(Session& session, int64_t report_sequence, MonoTime now) {
  if (session.node) set_contact(session.node, now);
  session.granted_at[report_sequence] = now;
}

// Report k says that the grant for report j has arrived. Report j said the same of an earlier
// grant, which had left at a time we know, so j was sent after that; and the lease that j won lasts
// until `lease` after j was sent.
void Sessions::report_confirms(Session& session, int64_t report_sequence, int64_t granted_sequence,
                               Duration lease, MonoTime now) {
  auto granted = session.granted_at.find(granted_sequence);
  if (granted == session.granted_at.end()) return;
  session.sent_after[report_sequence] = granted->second;
  if (auto sent = session.sent_after.find(granted_sequence); sent != session.sent_after.end()) {
    const MonoTime until = sent->second + lease;
    ProvenLease& proven = proven_[session.node];
    if (until > now) {
      if (proven.until < now) proven.since = now;
      proven.until = std::max(proven.until, until);
    }
  }
  session.granted_at.erase(session.granted_at.begin(), granted);
  session.sent_after.erase(session.sent_after.begin(),
                           session.sent_after.lower_bound(granted_sequence));
}

ProvenLease Sessions::proven_lease(NodeId node) const {
  auto it = proven_.find(node);
  return it == proven_.end() ? ProvenLease{} : it->second;
}

}  // namespace hai
