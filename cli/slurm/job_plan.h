#pragma once
// What a job from sbatch or srun needs to know about itself when it runs: how many tasks, where the
// output goes. It travels in the job's environment.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai::cli::slurm {

inline constexpr const char* kPlanVariable = "HAI_SLURM_JOB";
inline constexpr const char* kScriptVariable = "HAI_SLURM_SCRIPT";
inline constexpr const char* kFunctionsVariable = "HAI_SLURM_FUNCTIONS";
inline constexpr const char* kKeyVariable = "HAI_SLURM_KEY";  // sealed; only ranks know it

// What a script's srun knows of the job's container.
inline constexpr const char* kContainerImageVariable = "HAI_SLURM_IMAGE";
inline constexpr const char* kContainerMountsVariable = "HAI_SLURM_MOUNTS";  // with commas

inline constexpr int kTasksMax = 1'000'000;

struct JobPlan {
  std::string name;                    // as the user wrote it
  std::string script;                  // its path; "" = it came another way
  std::vector<std::string> command;    // of srun; empty = the script
  std::vector<std::string> arguments;  // of the script
  int tasks = 1;                       // in all
  int tasks_per_node = 0;              // as asked; 0 = not asked
  int cpus_per_task = 0;
  int gpus_per_task = 0;
  std::string partition;
  std::string submit_dir;
  std::string submit_host;
  std::string output;  // patterns; "" = only hai's log
  std::string error;   // "" = where the output goes
  bool is_default_output = false;
  bool append = false;
  int signal = 0;                  // sent when the job is to make room; 0 = none
  bool signal_script = false;      // --signal=B:...
  int signal_seconds = 60;         // also so long before the time limit
  int64_t time_limit_seconds = 0;  // of an attempt; 0 = none
  bool label = false;
  bool kill_on_bad_exit = false;
  bool mpi = false;                           // srun --mpi=pmix
  std::string container_image;                // of the job and all its steps; "" = none
  std::vector<std::string> container_mounts;  // "FROM[:TO][:ro]"
  std::string container_directory;            // where script and tasks begin; "" = as without image
  bool operator==(const JobPlan&) const = default;
};

std::string format_plan(const JobPlan& plan);
Result<JobPlan> parse_plan(std::string_view text);

// Tasks in blocks, as evenly as they go: 5 on 2 nodes are 3 and 2.
std::vector<int> tasks_by_node(int tasks, int nodes);
// "4(x2),3" as in SLURM_TASKS_PER_NODE.
std::string format_tasks_by_node(const std::vector<int>& tasks);
Result<std::vector<int>> parse_tasks_by_node(std::string_view text);

}  // namespace hai::cli::slurm
