#include "server/api/attempt_view.h"

#include <fmt/core.h>

namespace hai {

namespace {

std::vector<int> indices_of(GpuSet gpus) {
  std::vector<int> indices;
  for (int i = 0; i < GpuSet::kMax; ++i) {
    if (gpus.contains(i)) indices.push_back(i);
  }
  return indices;
}

RankView view_rank(const ClusterState& state, const Rank& rank, int number) {
  const Node* node = state.find(rank.place.node);
  RankView view{
      .rank = number,
      .node = node == nullptr ? fmt::format("#{}", rank.place.node.value) : node->facts.name,
      .gpus = indices_of(rank.place.gpus),
      .state = std::string(to_string(rank.state)),
      .message = rank.message};
  if (rank.cause != ExitCause::none) view.cause = to_string(rank.cause);
  if (is_gone(rank.state)) view.exit_code = rank.exit_code;
  return view;
}

}  // namespace

AttemptView view_attempt(const ClusterState& state, JobId job, const Attempt& attempt) {
  AttemptView view{.job = job.value,
                   .number = attempt.number,
                   .state = std::string(to_string(attempt.state)),
                   .placed_at = attempt.placed_at,
                   .running_at = attempt.running_at,
                   .ended_at = attempt.ended_at};
  if (attempt.end) {
    view.end_reason = attempt.end->reason;
    view.exit_code = attempt.end->exit_code;
  } else {
    view.end_reason = attempt.suspend_reason;
  }
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    view.ranks.push_back(view_rank(state, attempt.ranks[i], static_cast<int>(i)));
  }
  return view;
}

}  // namespace hai
