#include "server/control/lost_history.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/decide_report.h"

namespace hai {

void LostHistory::lose(int64_t first, int64_t last) {
  if (!lost_) {
    lost_ = {first, last};
  } else {
    lost_->first = std::min(lost_->first, first);
    lost_->last = std::max(lost_->last, last);
  }
}

void LostHistory::term_began(LogPosition start) {
  start_ = start;
  if (seen_.seq > start.seq) lose(start.seq + 1, seen_.seq);
  seen_ = {std::max(seen_.epoch, start.epoch), start.seq};
}

void LostHistory::leads_elsewhere(LogPosition position) {
  seen_ = {std::max(seen_.epoch, position.epoch), std::max(seen_.seq, position.seq)};
}

bool LostHistory::heard(LogPosition position) {
  if (position.epoch > start_.epoch) {
    seen_.epoch = std::max(seen_.epoch, position.epoch);
    return false;
  }
  if (position.epoch == start_.epoch) {
    if (position.seq <= seen_.seq) return true;
    lose(seen_.seq + 1, position.seq);  // Another leader had this epoch, and it is forgotten.
    return false;
  }
  if (position.seq > start_.seq) lose(start_.seq + 1, position.seq);
  return true;
}

void skip_attempts_of_strays(Decision& decision, const Session& session) {
  for (const auto& [key, status] : session.ranks) {
    const Job* job = decision.state().find(key.job);
    if (job == nullptr || job->is_terminal() || key.attempt < job->next_attempt()) continue;
    decision.emit(AttemptsSkipped{key.job, key.attempt});
  }
}

bool are_all_nodes_known(const ClusterState& state, const Sessions& sessions) {
  return std::ranges::all_of(state.nodes(), [&](const auto& entry) {
    const auto& [id, node] = entry;
    if (node.liveness == Liveness::down) return true;
    const Session* session = sessions.find(id);
    return session != nullptr && session->has_reported && count_strays(state, id, *session) == 0;
  });
}

void decide_lost_history(Decision& decision, const LostHistory& history) {
  const Incident* open = nullptr;
  for (const auto& [id, incident] : decision.state().incidents()) {
    if (incident.kind == kStoreWentBack) open = &incident;
  }
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
