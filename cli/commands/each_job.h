#pragma once
// What the verbs that are for several jobs share: how jobs are named and chosen. Those of one call
// for each job (priority, edit, rerun, move) also go through them here, one after the other.

#include <functional>
#include <string>

#include "cli/job_names.h"
#include "cli/output.h"

namespace CLI {
class App;
}

namespace hai::cli {

class Client;
class Session;

// JOB..., and the filters that stand for jobs.
void add_job_selection(CLI::App& verb, JobSelection& which);
// The same filters, where a verb has operands of its own.
void add_job_filters(CLI::App& verb, JobSelection& which);
inline constexpr const char* kJobOperandText =
    "ids, names, ranges such as 17-20, tasks such as 17_[1-5], patterns such as 'sweep-*'";

// An error if no job is named or chosen at all.
Status check_selection(const std::string& verb, const JobSelection& which);

struct JobChange {
  v1::Job job;
  std::string line;
};
using ChangeJob = std::function<Result<JobChange>(Client& client, const std::string& job)>;

enum class Turn { oldest_first, newest_first };

// A line for each; as JSON an object for one job that was named, else a list. Returns the exit code
// of the first that was refused.
int change_each_job(Session& session, const std::string& verb, const JobSelection& which,
                    OutputFormat output, const ChangeJob& change, Turn turn = Turn::oldest_first);

}  // namespace hai::cli
