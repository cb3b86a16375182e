#pragma once
// The jobs that squeue and scancel are about: by ids, user, name, state, node group, priority,
// node.

#include <optional>
#include <string>
#include <vector>

#include "cli/slurm/parse_options.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

struct JobFilter {
  std::vector<std::string> users, names, groups, priorities, nodes;
  std::vector<std::string> states;  // codes; empty = the unfinished ones
  bool any_state = false;
  bool matches(const v1::Job& job) const;
};

// "a,b" -> {"a", "b"}; "" -> {}.
std::vector<std::string> split_list(std::string_view text);
// Of options user (or me), name, partition, qos, nodelist. `me` is asked of the server if needed.
Result<JobFilter> read_filter(Client& client, const ParsedWords& words);
// "17"; arrays and steps are refused.
Result<int64_t> parse_job_id(std::string_view text);

struct FoundJobs {
  std::vector<v1::Job> jobs;  // oldest first
  std::string left_out;       // what was not looked at, in words; "" = nothing
};
// `with_specs`: also time limits and dependencies, one call per job.
Result<FoundJobs> find_jobs(Client& client, const JobFilter& filter, bool with_specs);

// Jobs that have ended have no nodes of their own any more, only their attempts have. Gives the
// number of its GPUs in its last attempt, nothing if it has had none.
std::optional<int> fill_from_attempt(Client& client, v1::Job& job);

}  // namespace hai::cli::slurm
