#include "server/model/event.h"

namespace hai {

std::string_view kind_of(const EventBody& body) {
  // In the order of EventBody; the array's size is checked against it.
  static constexpr std::string_view kKinds[] = {"epoch_started",
                                                "user_set",
                                                "quota_set",
                                                "quota_removed",
                                                "token_set",
                                                "token_revoked",
                                                "job_submitted",
                                                "job_held",
                                                "job_released",
                                                "job_priority_changed",
                                                "job_rank_changed",
                                                "job_stop_requested",
                                                "job_finished",
                                                "nodes_reserved",
                                                "reservation_dropped",
                                                "attempt_placed",
                                                "attempt_starting",
                                                "rank_running",
                                                "rank_ended",
                                                "attempt_running",
                                                "attempt_suspending",
                                                "attempt_continued",
                                                "attempt_ending",
                                                "attempt_ended",
                                                "job_requeued",
                                                "checkpoint_reported",
                                                "life_state_set",
                                                "node_registered",
                                                "node_liveness_changed",
                                                "node_scheduling_changed",
                                                "node_peers_named",
                                                "node_peers_confirmed",
                                                "incident_opened",
                                                "incident_changed",
                                                "incident_closed",
                                                "attempts_skipped",
                                                "incident_noted",
                                                "node_check_changed",
                                                "node_check_handled",
                                                "node_marked",
                                                "node_repair_changed",
                                                "node_validated",
                                                "job_reopened"};
  static_assert(std::size(kKinds) == std::variant_size_v<EventBody>);
  return kKinds[body.index()];
}

JobId job_of(const EventBody& body) {
  return std::visit(
      [](const auto& event) -> JobId {
        if constexpr (requires { event.job; }) {
          return event.job;
        } else {
          return {};
        }
      },
      body);
}

NodeId node_of(const EventBody& body) {
  return std::visit(
      [](const auto& event) -> NodeId {
        if constexpr (requires { event.node; }) {
          return event.node;
        } else {
          return {};
        }
      },
      body);
}

}  // namespace hai
