#include "server/model/find_job.h"

#include <fmt/core.h>

#include "common/whole_number.h"

namespace hai {

const Job* find_job(const ClusterState& state, const std::string& user, const std::string& text) {
  if (const auto id = whole_number<int64_t>(text)) return state.find(JobId{*id});
  if (const auto task = parse_array_task(text)) {
    if (const Job* job = state.find_task(*task)) return job;
  }
  return state.find_unfinished(user, text);
}

std::string shown_id(const Job& job) {
  if (!job.array_task) return std::to_string(job.id.value);
  return fmt::format("{}_{}", job.array_task->array.value, job.array_task->index);
}

std::string shown_id(const ClusterState& state, JobId job) {
  const Job* found = state.find(job);
  return found == nullptr ? std::to_string(job.value) : shown_id(*found);
}

}  // namespace hai
