#include "sim/sim_network.h"

#include <algorithm>

namespace hai {
namespace {

// What names a wire in draws, after its node: each direction is one.
constexpr const char* kToServer = ">server";
constexpr const char* kToAgent = "<server";
constexpr const char* kToPeers = ">peers";
const std::string kNobody;

}  // namespace

SimNetwork::SimNetwork(Timeline& timeline, Dice& dice, uint64_t seed)
    : timeline_(timeline), dice_(dice), wire_(timeline), rng_(seed) {}

int64_t SimNetwork::random_delay(Rng& rng) const {
  int64_t base = rng.between(model.delay_min.count(), model.delay_max.count());
  if (rng.chance(model.reordering)) base += rng.between(0, 1'000'000);
  return base;
}

Duration SimNetwork::delay(const std::string& wire) {
  return Duration(dice_.draw(Source::delay, wire, model.delay_min.count(), rng_,
                             [this](Rng& rng) { return random_delay(rng); }));
}

bool SimNetwork::is_lost(const std::string& wire, const std::function<void()>& callback) {
  if (dice_.chance(Source::lost, wire, model.loss, rng_)) return true;
  const int64_t copy = dice_.draw(Source::doubled, wire, 0, rng_, [this](Rng& rng) {
    return rng.chance(model.duplication) ? random_delay(rng) : 0;
  });
  if (copy > 0) wire_.call_after(Duration(copy), callback);
  return false;
}

void SimNetwork::deliver(const std::string& wire, std::function<void()> callback) {
  if (is_lost(wire, callback)) return;
  wire_.call_after(delay(wire), std::move(callback));
}

void SimNetwork::deliver(Direction& direction, const Passing& message,
                         std::function<void()> callback) {
  if (on_message) on_message(message);
  if (is_lost(direction.wire, callback)) return;
  if (const int arrivals = hold_back ? hold_back(message) : 0; arrivals > 0) {
    held_[++last_held_] = {direction.wire, arrivals, std::move(callback)};
    wire_.call_after(kHeldMost, [this, held = last_held_] { release(held); });
    return;
  }
  MonoTime arrival = wire_.now() + delay(direction.wire);
  if (model.reordering == 0) direction.last = arrival = std::max(arrival, direction.last);
  wire_.call_after(arrival - wire_.now(), std::move(callback));
}

void SimNetwork::release(int64_t held) {
  auto it = held_.find(held);
  if (it == held_.end()) return;
  wire_.post(std::move(it->second.callback));
  held_.erase(it);
}

void SimNetwork::arrive(Direction& direction, int64_t number, Passing message) {
  message.arrives = true;
  message.number = number;
  message.is_overtaken = number < direction.newest_arrived;
  direction.newest_arrived = std::max(direction.newest_arrived, number);
  if (on_message) on_message(message);
  for (auto it = held_.begin(); it != held_.end();) {
    const auto [id, held] = *it++;
    if (held.wire == direction.wire && --held_[id].arrivals_left == 0) release(id);
  }
}

bool SimNetwork::passes(const std::string& node, Cut direction) const {
  auto it = cuts_.find(node);
  return it == cuts_.end() || it->second.direction == Cut::none ||
         (it->second.direction != Cut::both && it->second.direction != direction);
}

std::optional<MonoTime> SimNetwork::unheard_since(const std::string& node) const {
  if (reaches_servers(node)) return std::nullopt;
  return cuts_.at(node).unheard_since;
}

int SimNetwork::island_of(const std::string& node) const {
  auto it = cuts_.find(node);
  return it == cuts_.end() ? 0 : it->second.island;
}

void SimNetwork::add_peer(const std::string& node, const std::string& address,
                          std::shared_ptr<PeerEnd> end) {
  peers_[{node, address}] = std::move(end);
}

void SimNetwork::at_peer(const std::shared_ptr<PeerEnd>& end,
                         std::function<void(const PeerPort::Listener&)> action) {
  if (end->loop == nullptr) return;
  end->loop->post([end, action = std::move(action)] {
    if (end->loop != nullptr) action(end->listener);
  });
}

void SimNetwork::ask_peer(std::shared_ptr<PeerEnd> asker, int64_t round, const Peer& peer) {
  const std::string wire = asker->location + kToPeers;
  deliver(wire, [=, this] {
    auto it = peers_.find({peer.node, peer.address});
    if (it == peers_.end()) return;
    const std::shared_ptr<PeerEnd> asked = it->second;
    auto pass = [=, this] { return island_of(asker->location) == island_of(asked->location); };
    if (!pass()) return;
    at_peer(asked, [=, this](const PeerPort::Listener& listener) {
      const LeaseAnswer answer = listener.asked();
      deliver(wire, [=] {
        if (!pass()) return;
        at_peer(asker, [=](const PeerPort::Listener& asking) {
          asking.answered(round, peer.node, answer);
        });
      });
    });
  });
}

void SimNetwork::dial(int server, std::shared_ptr<AgentEnd> agent,
                      std::function<void(ConnectionId)> connected, std::function<void()> refused) {
  wire_.call_after(delay(agent->node), [this, server, agent, connected, refused] {
    if (agent->loop == nullptr) return;
    const ServerEnd& end = servers[server];
    if (!passes(agent->location, Cut::to_server) || !passes(agent->location, Cut::to_agent) ||
        end.controller == nullptr || end.loop->is_paused() || !end.controller->is_leading()) {
      agent->loop->call_after(delay(agent->node), refused);
      return;
    }
    ConnectionId connection{next_connection_++};
    Stream& stream = streams_.emplace(connection, Stream{server, agent}).first->second;
    stream.up.wire = agent->location + kToServer;
    stream.down.wire = agent->location + kToAgent;
    end.loop->post([controller = end.controller, connection, agent] {
      controller->agent_connected(connection, agent->node, agent->identity);
    });
    agent->loop->call_after(delay(agent->node), [connected, connection] { connected(connection); });
  });
}

void SimNetwork::to_server(ConnectionId connection, const AgentReport& report) {
  auto it = streams_.find(connection);
  if (it == streams_.end() || !it->second.agent_open) return;
  Direction& up = it->second.up;
  const Passing message{.node = it->second.agent->node, .report = &report, .number = up.sent + 1};
  deliver(up, message, [this, connection, report, number = ++up.sent] {
    auto stream = streams_.find(connection);
    if (stream == streams_.end() || !stream->second.server_open) return;
    if (!passes(stream->second.agent->location, Cut::to_server)) return;
    arrive(stream->second.up, number, {.node = stream->second.agent->node, .report = &report});
    const ServerEnd& end = servers[stream->second.server];
    end.loop->post([controller = end.controller, connection, report] {
      controller->agent_report(connection, report);
    });
  });
}

void SimNetwork::to_agent(ConnectionId connection, const AgentOrder& order) {
  if (on_order) on_order(order);
  auto it = streams_.find(connection);
  if (it == streams_.end() || !it->second.server_open) return;
  Direction& down = it->second.down;
  const Passing message{.node = it->second.agent->node, .order = &order, .number = down.sent + 1};
  deliver(down, message, [this, connection, order, number = ++down.sent] {
    auto stream = streams_.find(connection);
    if (stream == streams_.end() || !stream->second.agent_open) return;
    if (!passes(stream->second.agent->location, Cut::to_agent)) return;
    const std::shared_ptr<AgentEnd>& agent = stream->second.agent;
    if (agent->loop == nullptr) return;
    arrive(stream->second.down, number, {.node = agent->node, .order = &order});
    agent->loop->post([agent, order, this, connection] {
      auto current = streams_.find(connection);
      if (current != streams_.end() && current->second.agent_open && agent->order)
        agent->order(order);
    });
  });
}

bool SimNetwork::is_open_for_agent(ConnectionId connection) const {
  auto it = streams_.find(connection);
  return it != streams_.end() && it->second.agent_open;
}

void SimNetwork::close(ConnectionId connection) {
  break_agent_side(connection, delay(kNobody));
  break_server_side(connection, delay(kNobody));
}

void SimNetwork::break_agent_side(ConnectionId connection, Duration after) {
  wire_.call_after(after, [this, connection] {
    auto it = streams_.find(connection);
    if (it == streams_.end() || !it->second.agent_open) return;
    it->second.agent_open = false;
    std::shared_ptr<AgentEnd> agent = it->second.agent;
    if (!it->second.server_open) streams_.erase(it);
    if (agent->loop != nullptr)
      agent->loop->post([agent, connection] {
        if (agent->broken) agent->broken(connection);
      });
  });
}

void SimNetwork::break_server_side(ConnectionId connection, Duration after) {
  wire_.call_after(after, [this, connection] {
    auto it = streams_.find(connection);
    if (it == streams_.end() || !it->second.server_open) return;
    it->second.server_open = false;
    const ServerEnd& end = servers[it->second.server];
    if (!it->second.agent_open) streams_.erase(it);
    if (end.controller != nullptr) {
      end.loop->post([controller = end.controller, connection] {
        controller->agent_disconnected(connection);
      });
    }
  });
}

void SimNetwork::server_died(int server) {
  for (auto& [connection, stream] : streams_) {
    if (stream.server != server) continue;
    stream.server_open = false;
    break_agent_side(connection, delay(stream.agent->node));
  }
}

void SimNetwork::agent_died(const std::string& location) {
  for (auto& [connection, stream] : streams_) {
    if (stream.agent->location != location || !stream.agent_open) continue;
    stream.agent_open = false;
    break_server_side(connection, reaches_servers(location) ? delay(location) : model.keepalive);
  }
}

SimNetwork::CutId SimNetwork::cut(const std::string& node, Cut direction, int island) {
  const MonoTime unheard_since = this->unheard_since(node).value_or(timeline_.now());
  cuts_[node] = {direction, island, ++last_cut_, unheard_since};
  if (direction == Cut::none) return last_cut_;
  for (auto& [connection, stream] : streams_) {
    if (stream.agent->location != node) continue;
    break_agent_side(connection, model.keepalive + delay(node));
    break_server_side(connection, model.keepalive + delay(node));
  }
  return last_cut_;
}

void SimNetwork::heal(const std::string& node) { cuts_.erase(node); }
void SimNetwork::heal(const std::string& node, CutId cut) {
  auto it = cuts_.find(node);
  if (it != cuts_.end() && it->second.id == cut) cuts_.erase(it);
}
void SimNetwork::heal_all() { cuts_.clear(); }

SimLink::SimLink(SimNetwork& network, VirtualLoop& loop, const NodeFacts& facts,
                 std::string location, uint64_t seed)
    : network_(network), loop_(loop), rng_(seed) {
  end_->node = facts.name;
  end_->location = std::move(location);
  end_->identity = identity_of(facts);
  end_->loop = &loop;
}

SimLink::~SimLink() {
  end_->loop = nullptr;
  end_->order = nullptr;
  end_->broken = nullptr;
}

void SimLink::start(Listener listener) {
  listener_ = std::move(listener);
  end_->order = [this](const AgentOrder& order) { listener_.order(order); };
  end_->broken = [this](ConnectionId connection) {
    if (connection != connection_)
      return;  // An earlier one; a process that stood still hears late.
    connection_ = {};
    listener_.disconnected();
    loop_.call_after(network_.pause_before_dial(end_->node, 10ms, 1s, rng_), [this] { dial(); });
  };
  dial();
}

void SimLink::dial() {
  int server = next_server_;
  next_server_ = (next_server_ + 1) % static_cast<int>(network_.servers.size());
  network_.dial(
      server, end_,
      [this, server](ConnectionId connection) {
        if (!network_.is_open_for_agent(connection)) return dial();
        connection_ = connection;
        next_server_ = server;
        listener_.connected();
      },
      [this] {
        loop_.call_after(network_.pause_before_dial(end_->node, 50ms, 1500ms, rng_),
                         [this] { dial(); });
      });
}

void SimLink::send(const AgentReport& report) {
  if (connection_) network_.to_server(connection_, report);
}

SimPeers::SimPeers(SimNetwork& network, VirtualLoop& loop, const NodeFacts& facts,
                   std::string location)
    : network_(network), node_(facts.name), address_(facts.address) {
  end_->location = std::move(location);
  end_->loop = &loop;
}

void SimPeers::start(Listener listener) {
  end_->listener = std::move(listener);
  network_.add_peer(node_, address_, end_);
}

void SimPeers::ask(int64_t round, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) network_.ask_peer(end_, round, peer);
}

}  // namespace hai
