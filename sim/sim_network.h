#pragma once
// Streams between simulated agents and servers: delay, loss, duplication, reordering, cuts and
// partitions. A cut is noticed late, as keep-alives would; a dead process's streams break at once.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/core/peer_port.h"
#include "agent/core/ports.h"
#include "common/rng.h"
#include "server/control/engine/controller.h"
#include "sim/dice.h"
#include "sim/virtual_loop.h"

namespace hai {

struct NetworkModel {
  Duration delay_min = 100us;
  Duration delay_max = 5ms;
  double loss = 0;
  double duplication = 0;
  double reordering = 0;     // share of messages that take up to a second longer
  Duration keepalive = 10s;  // until a side notices a partition
};

class SimNetwork {
 public:
  SimNetwork(Timeline& timeline, Dice& dice, uint64_t seed);

  NetworkModel model;

  // One server process: where its agents' calls go. Set when it starts, null when it dies.
  struct ServerEnd {
    VirtualLoop* loop = nullptr;
    Controller* controller = nullptr;
  };
  std::vector<ServerEnd> servers;

  // Calls `connected` with a connection on success, or `refused`, on the agent's loop.
  struct AgentEnd {
    std::string node;
    std::string location;  // what cuts go by; the node's name but for an impostor of it
    AgentIdentity identity;
    VirtualLoop* loop = nullptr;
    std::function<void(const AgentOrder&)> order;
    std::function<void(ConnectionId)> broken;
  };
  void dial(int server, std::shared_ptr<AgentEnd> agent,
            std::function<void(ConnectionId)> connected, std::function<void()> refused);
  void to_server(ConnectionId connection, const AgentReport& report);
  void to_agent(ConnectionId connection, const AgentOrder& order);
  std::function<void(const AgentOrder&)> on_order;  // told of each as it leaves its server
  // Told of each message of a stream as it leaves and as it arrives.
  struct Passing {
    const std::string& node;
    const AgentReport* report = nullptr;  // to the server
    const AgentOrder* order = nullptr;    // or to the agent
    int64_t number = 0;                   // of those of its connection and direction, from 1
    bool arrives = false;
    bool is_overtaken = false;  // arrives after one that was sent later
  };
  std::function<void(const Passing&)> on_message;
  // Asked of each as it leaves: so many others of its direction arrive first; 0 = no matter. It
  // arrives after kHeldMost anyway.
  static constexpr Duration kHeldMost = 5s;
  std::function<int(const Passing&)> hold_back;
  // Of a client that comes back with a pause of its own.
  Duration pause_before_dial(const std::string& node, Duration low, Duration high, Rng& own) {
    return Duration(dice_.between(Source::dial, node, low.count(), high.count(), own));
  }
  bool is_open_for_agent(ConnectionId connection) const;
  void close(ConnectionId connection);  // by either side: the other notices after a delay
  void server_died(int server);
  void agent_died(const std::string& location);

  // While a node is cut off nothing passes in the cut directions between it and the servers;
  // streams break after the keep-alive time. Nodes of one island reach each other and no other
  // node; those of island 0 are all that stand in none. A later cut replaces an earlier one.
  enum class Cut { none, both, to_server, to_agent };
  using CutId = int64_t;
  CutId cut(const std::string& node, Cut direction, int island = 0);
  void heal(const std::string& node);
  void heal(const std::string& node, CutId cut);  // nothing if another has replaced it
  void heal_all();
  bool reaches_servers(const std::string& node) const { return passes(node, Cut::to_server); }
  // Since when it does not; none: it does.
  std::optional<MonoTime> unheard_since(const std::string& node) const;
  bool hears_servers(const std::string& node) const { return passes(node, Cut::to_agent); }
  bool reach_each_other(const std::string& one, const std::string& other) const {
    return island_of(one) == island_of(other);
  }
  int new_island() { return ++last_island_; }

  // Agents that answer each other's questions, by where servers say that they are.
  struct PeerEnd {
    std::string location;
    VirtualLoop* loop = nullptr;
    PeerPort::Listener listener;
  };
  void add_peer(const std::string& node, const std::string& address, std::shared_ptr<PeerEnd> end);
  void ask_peer(std::shared_ptr<PeerEnd> asker, int64_t round, const Peer& peer);

 private:
  // One direction of a stream.
  struct Direction {
    std::string wire;  // names it in draws
    MonoTime last{};   // when the latest message arrives
    int64_t sent = 0;
    int64_t newest_arrived = 0;
  };
  struct Stream {
    int server = 0;
    std::shared_ptr<AgentEnd> agent;
    bool server_open = true;
    bool agent_open = true;
    Direction up;    // to the server
    Direction down;  // to the agent
  };
  struct Held {
    std::string wire;
    int arrivals_left = 0;
    std::function<void()> callback;
  };
  int64_t random_delay(Rng& rng) const;
  Duration delay(const std::string& wire);
  // Whether it is lost; if not, its copy, if there is one, is on its way.
  bool is_lost(const std::string& wire, const std::function<void()>& callback);
  void deliver(const std::string& wire, std::function<void()> callback);
  // After what was sent on the stream before, as TCP does, unless the model reorders.
  void deliver(Direction& direction, const Passing& message, std::function<void()> callback);
  void arrive(Direction& direction, int64_t number, Passing message);
  void release(int64_t held);
  void break_agent_side(ConnectionId connection, Duration after);
  void break_server_side(ConnectionId connection, Duration after);
  bool passes(const std::string& node, Cut direction) const;
  int island_of(const std::string& node) const;
  static void at_peer(const std::shared_ptr<PeerEnd>& end,
                      std::function<void(const PeerPort::Listener&)> action);

  Timeline& timeline_;
  Dice& dice_;
  VirtualLoop wire_;
  Rng rng_;
  int64_t next_connection_ = 1;
  std::map<ConnectionId, Stream> streams_;
  struct CutOff {
    Cut direction = Cut::both;
    int island = 0;
    CutId id = 0;
    MonoTime unheard_since{};  // by the servers, also by cuts that this one has replaced
  };
  std::map<int64_t, Held> held_;
  int64_t last_held_ = 0;
  CutId last_cut_ = 0;
  int last_island_ = 0;
  std::map<std::string, CutOff> cuts_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<PeerEnd>> peers_;
};

// The PeerPort of one agent process.
class SimPeers final : public PeerPort {
 public:
  SimPeers(SimNetwork& network, VirtualLoop& loop, const NodeFacts& facts, std::string location);
  ~SimPeers() override { end_->loop = nullptr; }
  void start(Listener listener) override;
  void prepare(const std::vector<Peer>&) override {}
  void ask(int64_t round, const std::vector<Peer>& peers) override;

 private:
  SimNetwork& network_;
  const std::string node_;
  const std::string address_;
  std::shared_ptr<SimNetwork::PeerEnd> end_ = std::make_shared<SimNetwork::PeerEnd>();
};

// The AgentPort of one server process.
class SimAgentPort final : public AgentPort {
 public:
  explicit SimAgentPort(SimNetwork& network) : network_(network) {}
  void send(ConnectionId connection, const AgentOrder& order) override {
    network_.to_agent(connection, order);
  }
  void close(ConnectionId connection, const std::string&) override { network_.close(connection); }

 private:
  SimNetwork& network_;
};

// The ServerLink of one agent process.
class SimLink final : public ServerLink {
 public:
  SimLink(SimNetwork& network, VirtualLoop& loop, const NodeFacts& facts, std::string location,
          uint64_t seed);
  ~SimLink() override;
  void start(Listener listener) override;
  void send(const AgentReport& report) override;

 private:
  void dial();
  SimNetwork& network_;
  VirtualLoop& loop_;
  Rng rng_;
  Listener listener_;
  std::shared_ptr<SimNetwork::AgentEnd> end_ = std::make_shared<SimNetwork::AgentEnd>();
  ConnectionId connection_;
  int next_server_ = 0;
};

}  // namespace hai
