#include "sim/explore/wire.h"

#include <algorithm>

namespace hai {

Wire::Wire(Timeline& timeline, std::vector<std::string> node_names, int server_count)
    : servers(server_count),
      agents(node_names.size()),
      names(std::move(node_names)),
      loop_(timeline) {
  loop_.set_rank(1);
}

const WireStream* Wire::find(ConnectionId connection) const {
  return const_cast<Wire*>(this)->find_stream(connection);
}

WireStream* Wire::find_stream(ConnectionId connection) {
  auto it = std::ranges::find(streams_, connection, &WireStream::connection);
  return it == streams_.end() ? nullptr : &*it;
}

const WireStream* Wire::open_stream(int node) const {
  auto it = std::ranges::find_if(
      streams_, [node](const WireStream& each) { return each.node == node && each.agent_open; });
  return it == streams_.end() ? nullptr : &*it;
}

// The leader that answers, or again after a while.
void Wire::dial(int node) {
  AgentEnd& agent = agents[node];
  if (agent.loop == nullptr || has_stream(node)) return;
  for (size_t i = 0; i < servers.size() && !agent.is_cut; ++i) {
    const ServerEnd& server = servers[i];
    if (server.loop == nullptr || server.loop->is_paused() || !server.controller->is_leading())
      continue;
    const ConnectionId connection{++last_connection_};
    streams_.push_back({.connection = connection, .node = node, .server = static_cast<int>(i)});
    server.controller->agent_connected(connection, names[node]);
    agent.loop->post([this, node, connection] {
      const WireStream* stream = find(connection);
      if (stream != nullptr && stream->agent_open) agents[node].link.connected();
    });
    return;
  }
  agent.loop->call_after(kRedial, [this, node] { dial(node); });
}

void Wire::send(int node, const AgentReport& report) {
  WireStream* stream = const_cast<WireStream*>(open_stream(node));
  if (stream == nullptr) return;
  stream->last_sequence = report.sequence;
  under_way_.push_back({.kind = WireMessage::Kind::report,
                        .node = node,
                        .connection = stream->connection,
                        .sent_at = loop_.now(),
                        .report = report});
}

void Wire::send(ConnectionId connection, const AgentOrder& order) {
  if (on_order) on_order(order);
  const WireStream* stream = find(connection);
  if (stream == nullptr || !stream->server_open) return;
  under_way_.push_back({.kind = WireMessage::Kind::order,
                        .node = stream->node,
                        .connection = connection,
                        .sent_at = loop_.now(),
                        .order = order});
}

void Wire::ask(int node, int64_t round, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) {
    const auto place = std::ranges::find(names, peer.node);
    under_way_.push_back({.kind = WireMessage::Kind::question,
                          .node = node,
                          .peer = static_cast<int>(place - names.begin()),
                          .sent_at = loop_.now(),
                          .round = round});
  }
}

// Nobody hears it: the stream has ended, its way is cut, or who should answer is not there.
bool Wire::is_lost(const WireMessage& message) const {
  if (message.kind == WireMessage::Kind::question || message.kind == WireMessage::Kind::answer) {
    const AgentEnd& asker = agents[message.node];
    const AgentEnd& peer = agents[message.peer];
    // A round is over when a paused one goes on.
    return asker.is_parted || peer.is_parted || asker.loop == nullptr || peer.loop == nullptr ||
           asker.loop->is_paused() || peer.loop->is_paused();
  }
  const WireStream* stream = find(message.connection);
  if (stream == nullptr || agents[message.node].is_cut) return true;
  return message.kind == WireMessage::Kind::report ? !stream->server_open : !stream->agent_open;
}

bool Wire::can_arrive_now(const WireMessage& message) const {
  if (message.kind == WireMessage::Kind::report) {
    return !servers[find(message.connection)->server].loop->is_paused();
  }
  return message.kind != WireMessage::Kind::order || !agents[message.node].loop->is_paused();
}

void Wire::sweep() {
  std::erase_if(under_way_, [this](const WireMessage& message) { return is_lost(message); });
  std::erase_if(held, [this](const WireMessage& message) { return is_lost(message); });
  std::erase_if(streams_,
                [](const WireStream& each) { return !each.agent_open && !each.server_open; });
}

const WireMessage* Wire::first() const {
  auto it = std::ranges::find_if(
      under_way_, [this](const WireMessage& message) { return can_arrive_now(message); });
  return it == under_way_.end() ? nullptr : &*it;
}

WireMessage Wire::take_first() {
  const auto place = std::ranges::find_if(
      under_way_, [this](const WireMessage& message) { return can_arrive_now(message); });
  WireMessage message = std::move(*place);
  under_way_.erase(place);
  return message;
}

void Wire::deliver(const WireMessage& message) {
  if (is_lost(message)) return;
  switch (message.kind) {
    case WireMessage::Kind::report:
      servers[find(message.connection)->server].controller->agent_report(message.connection,
                                                                         message.report);
      return;
    case WireMessage::Kind::order:
      agents[message.node].link.order(message.order);
      return;
    case WireMessage::Kind::question: {
      WireMessage answer = message;
      answer.kind = WireMessage::Kind::answer;
      answer.answer = agents[message.peer].peers.asked();
      answer.sent_at = loop_.now();
      under_way_.push_back(std::move(answer));
      return;
    }
    case WireMessage::Kind::answer:
      agents[message.node].peers.answered(message.round, names[message.peer], message.answer);
      return;
  }
}

void Wire::break_agent_side(WireStream& stream) {
  if (!stream.agent_open) return;
  stream.agent_open = false;
  const int node = stream.node;
  if (agents[node].loop == nullptr) return;
  agents[node].loop->post([this, node] {
    agents[node].link.disconnected();
    agents[node].loop->call_after(kRedial, [this, node] { dial(node); });
  });
}

void Wire::break_server_side(WireStream& stream) {
  if (!stream.server_open) return;
  stream.server_open = false;
  const ServerEnd& server = servers[stream.server];
  if (server.loop == nullptr) return;
  server.loop->post([controller = server.controller, connection = stream.connection] {
    controller->agent_disconnected(connection);
  });
}

void Wire::close(ConnectionId connection) {
  WireStream* stream = find_stream(connection);
  if (stream == nullptr) return;
  stream->server_open = false;
  break_agent_side(*stream);
}

void Wire::agent_died(int node) {
  agents[node].loop = nullptr;
  agents[node].link = {};
  agents[node].peers = {};
  for (WireStream& stream : streams_) {
    if (stream.node != node) continue;
    stream.agent_open = false;
    break_server_side(stream);
  }
}

void Wire::server_died(int server) {
  servers[server] = {};
  for (WireStream& stream : streams_) {
    if (stream.server != server) continue;
    stream.server_open = false;
    break_agent_side(stream);
  }
}

void Wire::break_stream(int node) {
  for (WireStream& stream : streams_) {
    if (stream.node != node || !stream.agent_open) continue;
    break_agent_side(stream);
    break_server_side(stream);
  }
}

void Wire::watch_cut(int node) {
  loop_.call_after(kKeepAlive, [this, node] {
    if (agents[node].is_cut) break_stream(node);
  });
}

void Wire::watch_pause(int server) {
  loop_.call_after(kKeepAlive, [this, server] {
    if (servers[server].loop == nullptr || !servers[server].loop->is_paused()) return;
    for (WireStream& stream : streams_) {
      if (stream.server == server) break_agent_side(stream);
    }
  });
}

}  // namespace hai
