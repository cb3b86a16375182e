#include "server/control/nodes/lost_history.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/nodes/decide_report.h"

namespace hai {

void LostHistory::lose(int64_t first, int64_t last) {
  if (!lost_) {
    lost_ = {first, last};
  } else {
    lost_->first = std::min(lost_->first, first);
    lost_->last = std::max(lost_->last, last);
  }
}

void LostHistory::found_evidence() {
  if (!lost_) lose(start_.seq + 1, start_.seq + 1);
}

bool LostHistory::settles(bool all_known, MonoTime now, Duration needed) {
  if (!all_known) {
    all_known_since_.reset();
    return false;
  }
  if (!all_known_since_) all_known_since_ = now;
  if (now - *all_known_since_ < needed) return false;
  all_known_since_.reset();
  lost_.reset();
  return true;
}

void LostHistory::term_began(LogPosition start) {
  start_ = start;
  witnesses_.clear();
  all_known_since_.reset();
  if (seen_.seq > start.seq) lose(start.seq + 1, seen_.seq);
  seen_ = {std::max(seen_.epoch, start.epoch), start.seq};
}

void LostHistory::leads_elsewhere(LogPosition position) {
  seen_ = {std::max(seen_.epoch, position.epoch), std::max(seen_.seq, position.seq)};
}

bool LostHistory::may_end_term(const std::string& node, MonoTime now) {
  std::erase_if(ended_term_at_,
                [&](const auto& each) { return now - each.second >= kEndsTermsApart; });
  return ended_term_at_.emplace(node, now).second;
}

LostHistory::Word LostHistory::heard(const std::string& node, LogPosition position, MonoTime now) {
  if (position.epoch > start_.epoch) {
    if (!may_end_term(node, now)) return Word::not_taken;
    seen_.epoch = std::max(seen_.epoch, position.epoch);
    return Word::ends_term;
  }
  if (position.epoch == start_.epoch) {
    if (position.seq <= seen_.seq) return Word::goes_on;
    if (!may_end_term(node, now)) return Word::not_taken;
    lose(seen_.seq + 1, position.seq);  // Another leader had this epoch, and it is forgotten.
    return Word::ends_term;
  }
  if (position.seq <= start_.seq) return Word::goes_on;
  if (witnesses_.insert(node).second || lost_) lose(start_.seq + 1, position.seq);
  return Word::goes_on;
}

void skip_attempts_of_strays(Decision& decision, const Session& session) {
  for (const auto& [key, status] : session.ranks) {
    const Job* job = decision.state().find(key.job);
    if (job == nullptr || job->is_terminal() || key.attempt < job->next_attempt()) continue;
    // No job comes so far: made up, and the number after the highest would be none.
    if (key.attempt > kAttemptsSkippedMax) continue;
    decision.emit(AttemptsSkipped{key.job, key.attempt});
  }
}

bool has_rank_of_lost_history(const ClusterState& state, const AgentReport& report) {
  return std::ranges::any_of(report.ranks, [&](const RankStatus& status) {
    if (!status.was_ordered) return false;
    if (status.key.job > state.last_job()) return true;
    const Job* job = state.find(status.key.job);
    return job != nullptr && !job->is_terminal() && status.key.attempt >= job->next_attempt();
  });
}

Duration time_to_settle(const Knobs& knobs) { return knobs.down_after + silence_limit(knobs); }

bool are_all_nodes_known(const ClusterState& state, const Sessions& sessions) {
  return std::ranges::all_of(state.nodes(), [&](const auto& entry) {
    const auto& [id, node] = entry;
    if (node.liveness == Liveness::down) return true;
    const Session* session = sessions.find(id);
    return session != nullptr && session->has_reported &&
           session->peers_version == node.peers.version && count_strays(state, id, *session) == 0;
  });
}

Duration listening_time(const Knobs& knobs) { return std::min<Duration>(knobs.heartbeat, 1min); }

bool has_heard_all(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                   MonoTime now) {
  if (now - sessions.term_start() >= listening_time(knobs)) return true;
  return std::ranges::all_of(state.nodes(), [&](const auto& entry) {
    const auto& [id, node] = entry;
    const Session* session = sessions.find(id);
    return node.liveness == Liveness::down || (session != nullptr && session->has_reported);
  });
}

void decide_lost_history(Decision& decision, const LostHistory& history) {
  const Incident* open = decision.state().open_incident(kStoreWentBack);
  if (history.lost() && open == nullptr) {
    decision.emit(IncidentOpened{
        {decision.state().last_incident().value + 1},
        std::string(kStoreWentBack),
        "cluster",
        fmt::format("the database has gone back: events {} to {} were durable and are gone, "
                    "acknowledged requests among them; nothing starts until every node has "
                    "reported, or is fenced by an operator (hai fence)",
                    history.lost()->first, history.lost()->last),
        {}});
  } else if (!history.lost() && open != nullptr) {
    decision.emit(IncidentClosed{open->id,
                                 "every node is known; what the lost events had started "
                                 "has ended"});
  }
}

}  // namespace hai
