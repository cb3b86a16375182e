#pragma once
// The jobs that squeue and scancel are about: by ids, user, name, state, node group, priority,
// node.

#include <optional>
#include <string>
#include <vector>

#include "cli/slurm/job_pages.h"
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

// "a,b" -> {"a", "b"}; "" -> {}; commas in brackets are no ends: "17_[1,3],18".
std::vector<std::string> split_list(std::string_view text);
// Of options user (or me), name, partition, qos, nodelist. `me` is asked of the server if needed.
Result<JobFilter> read_filter(Client& client, const ParsedWords& words);
// "17,18_3,19_[1-5],20_*": jobs as the server names them. A whole array is its number, steps are
// refused.
Result<std::vector<std::string>> parse_job_ids(std::string_view text);
Result<std::string> parse_job_id(std::string_view text);  // exactly one
// The job of an id that somebody has named. not_found in Slurm's words.
Result<v1::Job> named_job(Client& client, const std::string& id);

struct FoundJobs {
  std::vector<v1::Job> jobs;  // oldest first
  std::string left_out;       // what was not looked at, in words; "" = nothing
};
// What is still to come of an array, and its tasks in the order of their numbers: without specs.
Result<std::vector<v1::Job>> tasks_of(Client& client, const v1::Job& array, bool with_ended);
// `with_specs`: also time limits and dependencies, one call per job.
// Without a period those of now, or the newest ones.
Result<FoundJobs> find_jobs(Client& client, const JobFilter& filter, bool with_specs,
                            const std::optional<Period>& period = {});

}  // namespace hai::cli::slurm
