#pragma once
// The agent's logic: report what runs, obey the leader's orders, and end the ranks before anybody
// else may run them. Owned by main (or the simulator), used on the loop's thread only. What must
// outlive it is with the ranks' shims, and in its record.
//
//   granted ──lease ends──▶ asking its peers ──nobody leads──▶ ranks live on, asking goes on
//                               └──a peer's lease is alive, or too few answer──▶ fence: ranks end

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/core/health_port.h"
#include "agent/core/peer_port.h"
#include "agent/core/peer_vote.h"
#include "agent/core/ports.h"
#include "common/agent_messages.h"
#include "common/loop_scope.h"

namespace hai {

class Agent {
 public:
  // What it needs of the world; all outlive it.
  struct Ports {
    RankHost& host;
    ServerLink& link;
    PeerPort& peers;
    AgentRecordKeeper& keeper;
    HealthPort* health = nullptr;  // none = nothing is known of the node's health
  };
  Agent(Loop& loop, Ports ports, NodeFacts facts);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Adopts the ranks an earlier agent left, then dials the servers.
  void start();

  Epoch epoch() const { return record_.seen.epoch; }
  MonoTime lease_until() const { return record_.lease_until; }
  MonoTime ranks_until() const { return ranks_until_; }
  const std::map<RankKey, RankStatus>& ranks() const { return ranks_; }

 private:
  friend class AgentFingerprint;  // sim/explore tells states apart by all of it
  void connected();
  void disconnected();
  void order(const AgentOrder& order);
  void on(const LaunchRank& order);
  void on(const SuspendRank& order);
  void on(const ContinueRank& order);
  void on(const KillRank& order);
  void on(const ForgetRank& order);
  void on(const GrantLease& order);
  void on(const NamePeers& order);
  void on(const RunHook& order);
  void on(const ClearFault& order);
  void on(const RefuseAgent& order);

  void rank_changed(const RankStatus& told);
  bool is_worth_a_look(const RankStatus& before, const RankStatus& status) const;
  void take_rank(const RankStatus& status);
  void refuse(const RankKey& key, ExitCause cause, std::string message);
  void refuse(const LaunchRank& order, ExitCause cause, std::string message);
  void let_ranks_live(MonoTime until);
  LeaseAnswer lease_answer() const;
  bool has_live_ranks() const;
  void watch_lease();
  void report_soon();
  void report_within(Duration pause);
  void add_gpu_readings(AgentReport& report);
  void report_now(bool is_heartbeat = false);
  void set_heartbeat(Duration heartbeat);
  void arm_heartbeat();
  bool is_forgotten(const RankKey& key) const;
  const RankKey* find_other_attempt(const RankKey& launched) const;  // null = there is none

  Loop& loop_;
  RankHost& host_;
  ServerLink& link_;
  PeerPort& peers_;
  AgentRecordKeeper& keeper_;
  HealthPort* const health_;
  const NodeFacts facts_;

  std::map<RankKey, RankStatus> ranks_;
  // Highest attempt forgotten per job: a launch that comes late must not run an attempt that is
  // over.
  std::map<JobId, int> forgotten_;
  AgentRecord record_;
  MonoTime ranks_until_{};        // the shims end them then
  int64_t granted_sequence_ = 0;  // see AgentReport
  Duration heartbeat_ = 5s;
  bool is_connected_ = false;
  bool send_facts_ = true;
  bool send_checks_ = true;
  std::set<RankKey> looked_at_;  // ranks that failed, until it is known what the machine says to it
  std::vector<GpuReading> gpu_readings_;  // as last sent on this stream
  std::optional<HookResult> hook_;
  int64_t hook_begun_ = 0;
  bool report_posted_ = false;
  LoopTimer start_report_timer_;
  MonoTime start_report_at_{};  // when it fires
  int64_t sequence_ = 0;
  std::map<int64_t, MonoTime> sent_at_;  // reports not yet answered
  std::optional<MonoTime> asked_at_;     // for a lease, on this stream
  LoopTimer heartbeat_timer_;
  LoopTimer lease_timer_;
  PeerVote vote_;
  LoopScope scope_;  // the last, so that it ends first

  // A program mostly runs or has failed by then, which is worth a report more than its start is.
  static constexpr Duration kLaunchPause = 5ms;
  static constexpr Duration kStartPause = 2ms;  // and soon enough for who waits for its start
  static constexpr size_t kForgottenMax = 10'000;
  static constexpr size_t kUnansweredMax = 1'000;
  // News so soon after a report that asked for a lease ask for none: the answer to each start and
  // end is spared. Small enough that a node which misses one heartbeat is not silent yet.
  static constexpr int kLeasesPerHeartbeat = 8;
};

}  // namespace hai
