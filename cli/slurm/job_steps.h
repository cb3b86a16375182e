#pragma once
// The steps of jobs, as their last attempt recorded them (step/step_record.h).

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/step/step_record.h"
#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

// Whether it came from sbatch, srun or salloc and has run: others have no steps.
bool may_have_steps(const v1::Job& job);

// By number; none of a job without steps. An error if they cannot be read: the job is somebody
// else's, or its first node is away and there is no log store.
Result<std::vector<StepRecord>> read_steps(Client& client, const v1::Job& job);

// Whether it runs now. One that has not ended was ended with its attempt.
bool is_running(const StepRecord& step, const v1::Job& job);

// The step as if it were a job of its own: its name, nodes, times, state, exit code and what it
// used. All else is the job's.
v1::Job job_of_step(const StepRecord& step, const v1::Job& job);

// "17.3,18,19_4.batch": the jobs with these steps, or with all of theirs.
class StepFilter {
 public:
  explicit StepFilter(std::string_view text);
  const std::string& jobs() const { return jobs_; }  // the ids without steps, each once
  // `step` is "3" or "batch", "" of the job itself.
  bool matches(const v1::Job& job, std::string_view step) const;

 private:
  std::string jobs_;
  std::set<std::string, std::less<>> steps_;       // "17.3"
  std::set<std::string, std::less<>> with_steps_;  // the jobs that only these are wanted of
};

// Reads the steps of several jobs. Those that cannot be read are left out: of others' jobs, which
// is no error, and of nodes that are away.
class StepReader {
 public:
  explicit StepReader(Client& client) : client_(client) {}
  std::vector<StepRecord> read(const v1::Job& job);
  // What was left out, in lines for people.
  std::vector<std::string> left_out() const;

 private:
  Client& client_;
  int unreadable_ = 0;  // others' jobs
  std::vector<std::string> failures_;
  bool has_given_up_ = false;
};

}  // namespace hai::cli::slurm
