#include "server/control/sessions.h"

namespace hai {

ConnectionId Sessions::open(ConnectionId connection, const std::string& node_name) {
  ConnectionId replaced;
  if (auto it = by_name_.find(node_name); it != by_name_.end()) {
    replaced = it->second;
    close(replaced);
  }
  sessions_.insert_or_assign(connection, Session{.connection = connection, .node_name = node_name});
  by_name_[node_name] = connection;
  return replaced;
}

void Sessions::close(ConnectionId connection) {
  auto it = sessions_.find(connection);
  if (it == sessions_.end()) return;
  by_name_.erase(it->second.node_name);
  if (it->second.node) by_node_.erase(it->second.node);
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

void Sessions::bind(Session& session, NodeId node) {
  session.node = node;
  by_node_[node] = session.connection;
}

MonoTime Sessions::contact(NodeId node) const {
  auto it = contact_.find(node);
  return it == contact_.end() ? term_start_ : it->second;
}

}  // namespace hai
