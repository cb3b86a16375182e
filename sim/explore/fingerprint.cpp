#include "sim/explore/fingerprint.h"

#include <algorithm>
#include <tuple>

#include "sim/explore/agent_fingerprint.h"
#include "sim/explore/small_world.h"

namespace hai {

class WorldFingerprint {
 public:
  explicit WorldFingerprint(const SmallWorld& world)
      : world_(world), knobs_(world.model_.knobs), epoch_(world.database_.epoch()) {}

  uint64_t value() {
    out_.add(world_.is_calm());
    if (world_.is_calm()) out_.add_age(now() - *world_.calm_since_, 24s);
    out_.add(now().time_since_epoch() % world_.model_.fault_grid);
    add_database();
    for (int i = 0; i < world_.model_.servers; ++i) add_server(i);
    for (int i = 0; i < world_.model_.nodes; ++i) add_node(i);
    add_wire();
    return out_.value();
  }

 private:
  MonoTime now() const { return world_.now(); }
  UnixTime wall() const { return VirtualLoop::kWallStart + now().time_since_epoch(); }
  // But for what is never due.
  void add_due(const std::vector<VirtualLoop::DueTimer>& due) {
    for (const VirtualLoop::DueTimer& timer : due) {
      if (timer.left > 1h) continue;
      out_.add(timer.delay);
      out_.add(timer.left);
    }
    out_.add(-1);
  }
  // -1 = it does not stand.
  void add_fault(bool stands, MonoTime since) { out_.add(stands ? now() - since : Duration{-1}); }

  // The rows matter by themselves only while nobody leads; but for the leader's, they are its
  // state.
  void add_database() {
    const MemDatabase& database = world_.database_;
    out_.add(database.has_valid_lease());
    if (database.has_valid_lease()) out_.add(database.lease_expires() - now());
    bool is_held_in_memory = false;
    for (size_t i = 0; i < world_.servers_.size(); ++i) {
      const SmallWorld::Server& server = world_.servers_[i];
      if (server.controller && database.holder().starts_with("server-" + std::to_string(i + 1)))
        out_.add(i);
      is_held_in_memory |= server.controller && server.controller->is_leading() &&
                           epoch_of(*server.controller) == epoch_;
    }
    if (!is_held_in_memory) add_state(ClusterState(database.stored_state()));
  }

  static Epoch epoch_of(const Controller& controller) { return controller.state().epoch(); }

  void add_job(const Job& job) {
    out_.add(job.id);
    out_.add(job.state);
    out_.add(job.stop_requested);
    out_.add(job.launch_failures);
    out_.add(job.avoid.size());
    for (const NodeId node : job.avoid) out_.add(node);
    out_.add(job.early_failures.size());
    out_.add(job.reservation.has_value());
    if (!job.attempt) return;
    const Attempt& attempt = *job.attempt;
    out_.add(attempt.number);
    out_.add(attempt.state);
    for (const Rank& rank : attempt.ranks) {
      out_.add(rank.place.node);
      out_.add(rank.state);
      out_.add(rank.cause);
    }
    if (!attempt.is_live()) return;
    out_.add(attempt.end.has_value());
    out_.add(attempt.running_at.has_value());
    if (!attempt.running_at) out_.add_age(wall() - attempt.placed_at, knobs_.launch_timeout + 2s);
  }

  void add_state(const ClusterState& state) {
    for (const auto& [id, job] : state.jobs()) add_job(job);
    for (const auto& [id, node] : state.nodes()) {
      out_.add(node.liveness);
      out_.add(node.liveness_reason.starts_with("silent, and"));
      out_.add(node.scheduling);
      out_.add(node.occupants.size());
      for (const NodeId peer : node.peers.confirmed) out_.add(peer);
      out_.add(node.peers.named.has_value());
      for (const NodeId peer : node.peers.named.value_or(std::vector<NodeId>{})) out_.add(peer);
    }
    for (const auto& [id, incident] : state.incidents()) {
      out_.add(incident.kind);
      for (const NodeId node : incident.nodes) out_.add(node);
    }
  }

  void add_server(int index) {
    const SmallWorld::Server& server = world_.servers_[index];
    out_.add(server.controller != nullptr);
    if (server.controller == nullptr) return;
    add_fault(server.is_paused(), server.paused_at);
    add_due(server.loop->due());
    out_.add(server.controller->mode());
    if (!server.controller->is_leading()) return;
    out_.add(epoch_of(*server.controller).value - epoch_.value);
    out_.add(server.controller->is_listening());
    add_state(server.controller->state());
    const Sessions& sessions = *server.controller->soft_facts().sessions;
    out_.add_age(now() - sessions.term_start(), knobs_.down_after + 2s);
    for (const auto& [id, node] : server.controller->state().nodes()) {
      out_.add_age(now() - sessions.contact(id), knobs_.down_after + 2s);
      const ProvenLease proven = sessions.proven_lease(id);
      const bool is_alive = proven.until >= now();
      out_.add(is_alive ? proven.until - now() : Duration{-1});
      if (is_alive) out_.add_age(now() - proven.since, knobs_.down_after + 2s);
      const Session* session = sessions.find(id);
      out_.add(session != nullptr);
      if (session != nullptr) add_session(*session, node.peers.version);
    }
  }

  void add_session(const Session& session, int64_t version) {
    const WireStream* stream = world_.wire_.find(session.connection);
    const int64_t sequence = stream == nullptr ? session.last_sequence : stream->last_sequence;
    out_.add(stream == nullptr ? 0 : 1 + stream->agent_open);
    out_.add(session.last_sequence - sequence);
    out_.add(session.has_reported);
    out_.add(session.ranks.size());
    for (const auto& [key, status] : session.ranks) add_status(out_, status);
    out_.add(session.sent.size());
    for (const auto& [key, sent] : session.sent) {
      out_.add(key.attempt);
      out_.add(key.rank);
      out_.add(sent.kind);
      out_.add(sent.is_held);
      out_.add_age(now() - sent.at, knobs_.resend_after + 2s);
    }
    out_.add(std::max(session.no_launches_until - wall(), Duration{0}));
    out_.add(session.peers_version - version);
    out_.add(session.peers_told.version - version);
    for (const auto& [granted, at] : session.granted_at) {
      out_.add(granted - sequence);
      out_.add(now() - at);
    }
    for (const auto& [sent, at] : session.sent_after) {
      out_.add(sent - sequence);
      out_.add_age(now() - at, knobs_.agent_lease);
    }
  }

  // Of a node's lists of peers, as the newest state knows it.
  int64_t version_of(int index) const {
    for (const SmallWorld::Server& server : world_.servers_) {
      if (!server.controller || !server.controller->is_leading()) continue;
      if (epoch_of(*server.controller) != epoch_) continue;
      const Node* node = server.controller->state().find_node(world_.wire_.names[index]);
      return node == nullptr ? 0 : node->peers.version;
    }
    return 0;
  }

  void add_node(int index) {
    const SmallWorld::Node& node = *world_.nodes_[index];
    const Wire::AgentEnd& end = world_.wire_.agents[index];
    add_fault(node.loop->is_paused(), node.paused_at);
    add_fault(end.is_cut, node.cut_at);
    add_fault(end.is_parted, node.parted_at);
    out_.add(node.safe_since ? std::min(now() - *node.safe_since, world_.kNeedlessAfter)
                             : Duration{-1});
    add_due(node.loop->due());
    add_due(node.machine->due());
    const MonoTime now_there = node.loop->now();
    node.machine->each_rank([&](const RankStatus& status, MonoTime lease_until) {
      add_status(out_, status);
      out_.add(status.phase == RankPhase::exited ? Duration{0} : lease_until - now_there);
    });
    AgentFingerprint::add(out_, *node.agent, now_there, epoch_, version_of(index));
  }

  void add_message(const WireMessage& message) {
    out_.add(message.kind);
    out_.add(message.node);
    if (message.kind == WireMessage::Kind::question || message.kind == WireMessage::Kind::answer) {
      out_.add(message.peer);
      out_.add(message.answer);
      out_.add(now() - message.sent_at);
      return;
    }
    const WireStream* stream = world_.wire_.find(message.connection);
    out_.add(stream - world_.wire_.streams().data());
    if (message.kind == WireMessage::Kind::order) {
      out_.add(message.order.epoch.value - epoch_.value);
      out_.add(message.order.body.index());
      return std::visit([&](const auto& body) { add_order(body, *stream); }, message.order.body);
    }
    const AgentReport& report = message.report;
    out_.add(report.sequence - stream->last_sequence);
    out_.add(report.granted_sequence == 0 ? 1 : report.granted_sequence - stream->last_sequence);
    out_.add(report.peers_version - version_of(message.node));
    out_.add(report.seen.epoch.value - epoch_.value);
    out_.add(report.is_news_only);
    out_.add(report.facts.has_value());
    out_.add(report.ranks.size());
    for (const RankStatus& status : report.ranks) add_status(out_, status);
  }

  void add_order(const GrantLease& grant, const WireStream& stream) {
    out_.add(grant.report_sequence - stream.last_sequence);
  }
  void add_order(const NamePeers& order, const WireStream& stream) {
    out_.add(order.version - version_of(stream.node));
    for (const Peer& peer : order.peers) out_.add(peer.node);
  }
  void add_order(const RunHook&, const WireStream&) {}
  void add_order(const ClearFault&, const WireStream&) {}
  void add_order(const RefuseAgent&, const WireStream&) {}
  template <typename OrderOfRank>
  void add_order(const OrderOfRank& order, const WireStream&) {
    out_.add(order.key.attempt);
    out_.add(order.key.rank);
  }

  void add_wire() {
    const Wire& wire = world_.wire_;
    for (const WireStream& stream : wire.streams()) {
      out_.add(stream.node);
      out_.add(stream.server);
      out_.add(stream.agent_open);
      out_.add(stream.server_open);
    }
    out_.add(wire.under_way().size());
    for (const WireMessage& message : wire.under_way()) add_message(message);
    out_.add(wire.held.size());
    for (const WireMessage& message : wire.held) {
      add_message(message);
      out_.add_age(now() - message.sent_at, world_.model_.late_max);
    }
    add_due(wire.due());
  }

  const SmallWorld& world_;
  const Knobs& knobs_;
  const Epoch epoch_;
  Fingerprint out_;
};

uint64_t fingerprint_of(const SmallWorld& world) { return WorldFingerprint(world).value(); }
uint64_t SmallWorld::fingerprint() const { return fingerprint_of(*this); }

}  // namespace hai
