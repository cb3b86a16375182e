#include "server/model/find_job.h"

#include "common/whole_number.h"

namespace hai {

const Job* find_job(const ClusterState& state, const std::string& user, const std::string& text) {
  if (const auto id = whole_number<int64_t>(text)) return state.find(JobId{*id});
  if (const auto task = parse_array_task(text)) {
    if (const Job* job = state.find_task(*task)) return job;
  }
  return state.find_unfinished(user, text);
}

}  // namespace hai
