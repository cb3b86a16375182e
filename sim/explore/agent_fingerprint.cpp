#include "sim/explore/agent_fingerprint.h"

#include <algorithm>

namespace hai {

void add_status(Fingerprint& out, const RankStatus& status) {
  out.add(status.key.job);
  out.add(status.key.attempt);
  out.add(status.key.rank);
  out.add(status.phase);
  out.add(status.cause);
  out.add(status.exit_code);
  out.add(status.suspend_notified);
}

void AgentFingerprint::add(Fingerprint& out, const Agent& agent, MonoTime now, Epoch epoch,
                           int64_t version) {
  const int64_t sequence = agent.sequence_;
  // A lease or fence that has ended has ended, except that one that was never there is told apart.
  const auto add_end = [&](MonoTime end) {
    out.add(end == MonoTime{});
    out.add(std::max(end - now, Duration{0}));
  };
  out.add(agent.ranks_.size());
  for (const auto& [key, status] : agent.ranks_) add_status(out, status);
  for (const auto& [job, attempt] : agent.forgotten_) {
    out.add(job);
    out.add(attempt);
  }
  out.add(agent.record_.seen.epoch.value - epoch.value);
  add_end(agent.record_.lease_until);
  add_end(agent.record_.ranks_until);
  out.add(agent.record_.fence);
  out.add(agent.record_.peers.version - version);
  for (const Peer& peer : agent.record_.peers.peers) out.add(peer.node);
  add_end(agent.ranks_until_);
  out.add(agent.granted_sequence_ == 0 ? 1 : agent.granted_sequence_ - sequence);
  out.add(agent.is_connected_);
  out.add(agent.send_facts_);
  out.add(agent.report_posted_);
  out.add(agent.start_report_timer_.is_armed());
  // What was sent a lease ago wins nothing any more by its grant, but a proof of an earlier one.
  for (const auto& [sent, at] : agent.sent_at_) {
    out.add(sent - sequence);
    out.add(now - at);
  }
  out.add(agent.asked_at_ ? std::min(now - *agent.asked_at_, agent.heartbeat_) : Duration{-1});
  const PeerVote& vote = agent.vote_;
  out.add(vote.is_asking());
  if (!vote.is_asking()) return;
  out.add(now - vote.asked_at_);
  for (const auto& [node, answer] : vote.answers_) {
    out.add(node);
    out.add(answer);
  }
}

}  // namespace hai
