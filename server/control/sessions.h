#pragma once
// Soft state: which agent is connected, what it last reported, and which orders are on their way.
// Nothing here is stored; a new leader learns it again from the agents' first reports.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/id.h"
#include "common/time.h"

namespace hai {

enum class OrderKind { launch, suspend, resume, kill, forget };

struct SentOrder {
  OrderKind kind = OrderKind::launch;
  MonoTime at{};
};

struct Session {
  ConnectionId connection;
  std::string node_name;
  NodeId node;                     // 0 until its first report was accepted
  std::optional<NodeFacts> facts;  // from the connection's first report
  int64_t last_sequence = 0;
  bool has_reported = false;  // to this leader, on this connection
  std::map<RankKey, RankStatus> ranks;
  std::map<RankKey, SentOrder> sent;
};

class Sessions {
 public:
  // Returns the connection this one replaces, if the node had another.
  ConnectionId open(ConnectionId connection, const std::string& node_name);
  void close(ConnectionId connection);
  // All connections, which are forgotten: the end of a term.
  std::vector<ConnectionId> close_all();

  Session* find(ConnectionId connection);
  Session* find(NodeId node);
  const Session* find(NodeId node) const;
  void bind(Session& session, NodeId node);

  // When the node last got a lease grant from this term, or the term's start.
  MonoTime contact(NodeId node) const;
  void set_contact(NodeId node, MonoTime at) { contact_[node] = at; }
  void set_term_start(MonoTime at) { contact_.clear(), term_start_ = at; }

 private:
  std::map<ConnectionId, Session> sessions_;
  std::map<std::string, ConnectionId> by_name_;
  std::map<NodeId, ConnectionId> by_node_;
  std::map<NodeId, MonoTime> contact_;
  MonoTime term_start_{};
};

}  // namespace hai
