#pragma once
// An attempt as people see it; made on the loop's thread.

#include <optional>
#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

struct RankView {
  int rank = 0;
  std::string node;
  std::vector<int> gpus;
  std::string state;  // pending | running | exited | lost
  std::string cause;  // "" while it is there
  std::optional<int> exit_code;
  std::string message;
};

struct AttemptView {
  int64_t job = 0;
  int number = 0;
  std::string state;
  UnixTime placed_at{};
  std::optional<UnixTime> running_at;
  std::optional<UnixTime> ended_at;
  std::string end_reason;
  std::optional<int> exit_code;
  std::vector<RankView> ranks;
};

AttemptView view_attempt(const ClusterState& state, JobId job, const Attempt& attempt);

}  // namespace hai
