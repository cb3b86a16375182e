#pragma once
// What connects the agents and servers of a small world. Nothing arrives by itself: each message
// waits until the explorer delivers it, holds it back or loses it. Streams are made and broken at
// once; a paused process finds what came meanwhile when it goes on.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/peer_port.h"
#include "agent/core/ports.h"
#include "server/control/engine/controller.h"
#include "sim/virtual_loop.h"

namespace hai {

struct WireMessage {
  enum class Kind { report, order, question, answer };
  Kind kind = Kind::report;
  int node = 0;             // whose agent sent or gets it; of a question, who asks
  int peer = 0;             // who is asked
  ConnectionId connection;  // of reports and orders
  MonoTime sent_at{};
  AgentReport report;
  AgentOrder order;
  int64_t round = 0;
  LeaseAnswer answer = LeaseAnswer::unknown;
};

struct WireStream {
  ConnectionId connection;
  int node = 0;
  int server = 0;
  bool agent_open = true;
  bool server_open = true;
  int64_t last_sequence = 0;  // of the reports sent on it: others are counted from there
};

class Wire {
 public:
  // `names`: of the nodes.
  Wire(Timeline& timeline, std::vector<std::string> names, int servers);

  struct ServerEnd {
    VirtualLoop* loop = nullptr;  // null = dead
    Controller* controller = nullptr;
  };
  struct AgentEnd {
    VirtualLoop* loop = nullptr;
    ServerLink::Listener link;
    PeerPort::Listener peers;
    bool is_cut = false;     // from the servers
    bool is_parted = false;  // from its peers
  };
  std::vector<ServerEnd> servers;
  std::vector<AgentEnd> agents;
  const std::vector<std::string> names;
  std::function<void(const AgentOrder&)> on_order;  // told of each as it leaves its server

  // As the agents and servers see it.
  void dial(int node);
  void send(int node, const AgentReport& report);
  void send(ConnectionId connection, const AgentOrder& order);
  void close(ConnectionId connection);
  void ask(int node, int64_t round, const std::vector<Peer>& peers);

  // As the explorer sees it. The first message under way that can arrive now; nullptr if none.
  const WireMessage* first() const;
  WireMessage take_first();
  void deliver(const WireMessage& message);
  std::vector<WireMessage> held;
  // Not if who should get it stands still.
  bool can_arrive_now(const WireMessage& message) const;
  const std::deque<WireMessage>& under_way() const { return under_way_; }
  const std::vector<WireStream>& streams() const { return streams_; }
  const WireStream* find(ConnectionId connection) const;
  std::vector<VirtualLoop::DueTimer> due() const { return loop_.due(); }

  void agent_died(int node);
  void server_died(int server);
  void break_stream(int node);
  bool has_stream(int node) const { return open_stream(node) != nullptr; }
  // Keep-alives find out after a while: both sides of a cut, the agents of a paused server.
  void watch_cut(int node);
  void watch_pause(int server);
  // Drops what cannot arrive any more.
  void sweep();

  static constexpr Duration kKeepAlive = 8s;
  static constexpr Duration kRedial = 1s;

 private:
  const WireStream* open_stream(int node) const;
  WireStream* find_stream(ConnectionId connection);
  void break_agent_side(WireStream& stream);
  void break_server_side(WireStream& stream);
  bool is_lost(const WireMessage& message) const;

  VirtualLoop loop_;
  std::deque<WireMessage> under_way_;
  std::vector<WireStream> streams_;
  int64_t last_connection_ = 0;
};

// The ports of one process.
class WireLink final : public ServerLink {
 public:
  WireLink(Wire& wire, int node) : wire_(wire), node_(node) {}
  void start(Listener listener) override {
    wire_.agents[node_].link = std::move(listener);
    wire_.dial(node_);
  }
  void send(const AgentReport& report) override { wire_.send(node_, report); }

 private:
  Wire& wire_;
  const int node_;
};

class WirePeers final : public PeerPort {
 public:
  WirePeers(Wire& wire, int node) : wire_(wire), node_(node) {}
  void start(Listener listener) override { wire_.agents[node_].peers = std::move(listener); }
  void prepare(const std::vector<Peer>&) override {}
  void ask(int64_t round, const std::vector<Peer>& peers) override {
    wire_.ask(node_, round, peers);
  }

 private:
  Wire& wire_;
  const int node_;
};

class WireAgents final : public AgentPort {
 public:
  explicit WireAgents(Wire& wire) : wire_(wire) {}
  void send(ConnectionId connection, const AgentOrder& order) override {
    wire_.send(connection, order);
  }
  void close(ConnectionId connection, const std::string&) override { wire_.close(connection); }

 private:
  Wire& wire_;
};

}  // namespace hai
