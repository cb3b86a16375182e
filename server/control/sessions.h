#pragma once
// Soft state: which agent is connected, what it last reported, and which orders are on their way.
// Nothing here is stored; a new leader learns it again from the agents' first reports.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/bisection.h"
#include "common/id.h"
#include "common/knobs.h"
#include "common/time.h"
#include "server/model/incident.h"

namespace hai {

// A node that has said nothing for longer is silent: two heartbeats are missing.
inline Duration silence_limit(const Knobs& knobs) { return 2 * knobs.heartbeat + 1s; }

enum class OrderKind { launch, suspend, resume, kill, forget };

struct SentOrder {
  OrderKind kind = OrderKind::launch;
  MonoTime at{};         // when it left or, while it is held, since when it could have
  bool is_held = false;  // until another order leaves for the node
};

// What a rank's program said of itself and was taken, and until when no more is.
struct TakenWords {
  UnixTime no_checkpoint_until{};
  UnixTime no_life_state_until{};
  std::optional<std::string> whole_life_state;
};

// What the programs of each user have said of themselves, as the time until which it is paid: when
// that is far ahead of now, no more of it is taken.
using WordsPaid = std::map<std::string, UnixTime>;

struct Session {
  ConnectionId connection;
  std::string node_name;
  AgentIdentity identity;  // as it said when it dialled
  MonoTime opened_at{};
  NodeId node;                     // 0 until its first report was accepted
  std::optional<NodeFacts> facts;  // from the connection's first report
  int64_t last_sequence = 0;
  bool has_reported = false;  // to this leader, on this connection
  std::map<RankKey, RankStatus> ranks;
  std::map<RankKey, TakenWords> words;    // of ranks in `ranks`
  std::shared_ptr<WordsPaid> words_paid;  // one for all sessions; null = not counted
  std::map<RankKey, SentOrder> sent;
  UnixTime no_launches_until{};  // a rank could not start there, by the node's fault
  std::string launch_trouble;
  int64_t peers_version = 0;        // of the list the node goes by, as it reported
  NamePeers peers_told;             // as last sent
  std::vector<CheckResult> checks;  // all, as last reported
  bool has_new_checks = false;      // that were not taken over yet
  // What its changes have cost, as a time: when it is far ahead of now, no more are taken. Of the
  // node, whatever its connection.
  UnixTime checks_paid_until{};
  std::vector<GpuReading> gpu_readings;
  std::optional<HookResult> hook;  // of the last hook it ran
  MonoTime repair_ordered_at{};    // a hook, or faults to forget
  // By report sequence: when its grant left, and a moment before which the report was surely not
  // sent. Both only for what a later report can still confirm.
  std::map<int64_t, MonoTime> granted_at;
  std::map<int64_t, MonoTime> sent_after;
};

// A span in which a node's lease was surely alive, by what the node itself confirmed.
struct ProvenLease {
  MonoTime since{};
  MonoTime until{};
};

// Nodes of a job that failed without anybody to blame, tested in groups (common/bisection.h). Soft:
// a new leader begins anew.
struct Bisection {
  BisectionQuestion question;
  std::vector<std::pair<JobId, std::vector<std::string>>> running;  // this round's groups
  std::string why;
  IncidentId incident;
  std::set<std::string> decided;
  std::optional<UnixTime> idle_since = {};  // when some of them began to wait for the others
};

// A job that hung and that no one of its nodes could be blamed for (decide_hang.h). Soft: a new
// leader knows of none.
struct PastHang {
  std::string user;
  std::vector<NodeId> nodes;
  std::vector<NodeId> tested;  // of them, because of it
  UnixTime at{};
};

// Of an agent that was turned away (agent_admission.h).
struct RefusedAgent {
  MonoTime at{};                   // the last time
  std::string_view incident_kind;  // kNameTaken or kNotBelieved
  std::string why;
};

class Sessions {
 public:
  std::vector<Bisection> bisections;
  std::vector<PastHang> hangs;                  // of the last day, oldest first
  std::map<std::string, RefusedAgent> refused;  // by the name it asked for, in this term

  // Returns the connection this one replaces, if the node had another.
  ConnectionId open(ConnectionId connection, const std::string& node_name,
                    const AgentIdentity& identity = {}, MonoTime now = {});
  void close(ConnectionId connection);
  // All connections, which are forgotten: the end of a term.
  std::vector<ConnectionId> close_all();

  Session* find(ConnectionId connection);
  Session* find(NodeId node);
  const Session* find(NodeId node) const;
  const Session* find(const std::string& node_name) const;
  void bind(Session& session, NodeId node);
  const std::map<ConnectionId, Session>& all() const { return sessions_; }

  // When the node last got a lease grant from this term, or the term's start.
  MonoTime contact(NodeId node) const;
  void set_contact(NodeId node, MonoTime at) { contact_[node] = at; }
  // As if each connected node had just got a grant.
  void heard_connected(MonoTime now) { heard_connected_at_ = now; }
  void set_term_start(MonoTime at) {
    contact_.clear(), proven_.clear(), bisections.clear(), hangs.clear(), refused.clear();
    checks_paid_until_.clear(), words_paid_->clear();
    term_start_ = at;
  }
  MonoTime term_start() const { return term_start_; }
  // This server has heard nobody until now (it was paused): the silence was its own.
  void was_deaf_until(MonoTime now) { deaf_until_ = now; }

  // A grant leaves now; a report has come that confirms an earlier one. Both keep the proof of the
  // node's lease going (design/0005): that a grant was sent does not prove that it arrived.
  void grant_leaves(Session& session, int64_t report_sequence, MonoTime now);
  void report_confirms(Session& session, int64_t report_sequence, int64_t granted_sequence,
                       Duration lease, MonoTime now);
  ProvenLease proven_lease(NodeId node) const;

 private:
  std::map<ConnectionId, Session> sessions_;
  std::map<std::string, ConnectionId> by_name_;
  std::map<NodeId, ConnectionId> by_node_;
  std::map<NodeId, MonoTime> contact_;
  std::map<NodeId, ProvenLease> proven_;
  std::map<NodeId, UnixTime> checks_paid_until_;  // of nodes whose session has ended
  std::shared_ptr<WordsPaid> words_paid_ = std::make_shared<WordsPaid>();
  MonoTime term_start_{};
  MonoTime deaf_until_{};
  MonoTime heard_connected_at_{};
};

}  // namespace hai
