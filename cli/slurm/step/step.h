#pragma once
// A step: one srun inside a job. What it asks for, and what each node of it has to start. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/job_plan.h"
#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

// --pty: srun's own terminal is that of the task.
struct StepTerminal {
  int is_wanted = 0;
  int rows = 0;
  int columns = 0;
  bool operator==(const StepTerminal&) const = default;
};

// As srun sends it. 0 and "" = not said.
struct StepRequest {
  int nodes = 0;
  int tasks = 0;
  int tasks_per_node = 0;
  int cpus_per_task = 0;
  int gpus_per_task = 0;
  int gpus = 0;           // in all
  int gpus_per_node = 0;  // --gpus-per-node or --gres=gpu:N
  int no_gpus = 0;        // 1: --gpus=0 or --gres=none
  int exclusive = 0;      // 1: --exclusive or --exact: CPUs and GPUs of its own
  int overlap = 0;        // 1: shares with others whatever it gets
  int mpi = 0;            // 1: --mpi=pmix
  StepTerminal terminal;  // of its only task
  std::string node_list;
  bool kill_on_bad_exit = false;
  std::string directory;
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=VALUE
  bool operator==(const StepRequest&) const = default;

  bool asks_gpus() const {
    return gpus > 0 || gpus_per_node > 0 || gpus_per_task > 0 || no_gpus != 0;
  }
  // Else it sees all that its nodes have, and waits for nobody.
  bool takes_resources() const { return asks_gpus() || exclusive != 0; }
};

// One node's part.
struct StepLaunch {
  int first_task = 0;
  int node_tasks = 0;         // here
  int node_index = 0;         // of the step
  int tasks = 0;              // of the step
  std::string tasks_by_node;  // "4(x2)"
  std::string node_list;      // of the step
  int nodes = 0;              // of the step
  int cpus_per_task = 0;
  int gpus_per_task = 0;
  int has_own_gpus = 0;  // 1: of the node's GPUs only `gpus`, "0,3"
  StepTerminal terminal;
  std::string gpus;
  std::string mpi_space;  // PMIx's name of the step; "" = it has no PMIx
  std::string directory;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  bool operator==(const StepLaunch&) const = default;
};

struct RankLaunch {
  int rank = 0;  // of the job
  StepLaunch launch;
};

std::string encode_request(const StepRequest& request);
Result<StepRequest> decode_request(std::string_view body);
std::string encode_launch(const StepLaunch& launch);
Result<StepLaunch> decode_launch(std::string_view body);

// srun's options, which are those of a job, but of a step only some count.
Result<StepRequest> step_of_options(const ParsedWords& words);

// How large a step is, and which of the job's ranks it may use. `names` are the job's nodes by
// rank.
struct StepShape {
  std::vector<int> ranks;  // more than it needs, perhaps
  std::vector<int> tasks_by_node;
  int tasks = 0;
};
Result<StepShape> shape_of(const StepRequest& request, const JobPlan& job,
                           const std::vector<std::string>& names);
// What the chosen ranks start, one for each entry of tasks_by_node.
std::vector<RankLaunch> launches_on(const std::vector<int>& ranks, const StepShape& shape,
                                    const StepRequest& request, const JobPlan& job,
                                    const std::vector<std::string>& names);
// Both for a step that may use the first ranks, whatever other steps have.
Result<std::vector<RankLaunch>> plan_step(const StepRequest& request, const JobPlan& job,
                                          const std::vector<std::string>& names);

// The nodes in this order; format_hostlist would sort them, and the first has to stay the first.
std::string hostlist_in_order(const std::vector<std::string>& names);

}  // namespace hai::cli::slurm
