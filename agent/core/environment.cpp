#include "agent/core/environment.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/hostlist.h"
#include "common/life_state.h"

namespace hai {

namespace {

const RankPlace& place_of(const LaunchRank& order, int rank) {
  static const RankPlace kNowhere;
  if (order.here && rank == order.key.rank) return *order.here;
  if (rank < 0 || static_cast<size_t>(rank) >= order.ranks.size()) return kNowhere;
  return order.ranks[static_cast<size_t>(rank)];
}

int node_count(const LaunchRank& order) {
  return std::max<int>(1, static_cast<int>(order.ranks.size()));
}

// Where a process stands among those of the attempt. Ranks may differ: a whole node has 8 GPUs here
// and 4 there, and with one process per GPU as many processes.
struct Numbers {
  int node_rank;
  int nodes;
  int local_rank;
  int local_size;
  int process_rank;
  int processes;
};

// How many processes each rank has.
std::vector<int> sizes_of_ranks(const LaunchRank& order) {
  const int own = process_count(order);
  std::vector<int> sizes(static_cast<size_t>(node_count(order)), own);
  if (order.launch != LaunchMode::per_gpu) return sizes;
  for (size_t rank = 0; rank < order.ranks.size(); ++rank) {
    if (order.ranks[rank].gpus > 0) sizes[rank] = order.ranks[rank].gpus;
  }
  return sizes;
}

Numbers numbers_of(const LaunchRank& order, int process) {
  const std::vector<int> sizes = sizes_of_ranks(order);
  const auto here = sizes.begin() + std::clamp<ptrdiff_t>(order.key.rank, 0, std::ssize(sizes));
  return {.node_rank = order.key.rank,
          .nodes = node_count(order),
          .local_rank = process,
          .local_size = process_count(order),
          .process_rank = std::accumulate(sizes.begin(), here, 0) + process,
          .processes = std::accumulate(sizes.begin(), sizes.end(), 0)};
}

// A number for each node as Slurm writes them: "8(x2),4".
std::string folded(const std::vector<int>& sizes) {
  std::string text;
  for (auto first = sizes.begin(); first != sizes.end();) {
    const auto next = std::find_if(first, sizes.end(), [&](int size) { return size != *first; });
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (next - first > 1) text += "(x" + std::to_string(next - first) + ")";
    first = next;
  }
  return text;
}

void add_identity(const LaunchRank& order, const Numbers& numbers, Environment& out) {
  const RankPlace& here = place_of(order, order.key.rank);
  out["HAI_JOB_ID"] = std::to_string(order.key.job.value);
  out["HAI_JOB_NAME"] = order.job_name;
  out["HAI_ATTEMPT"] = std::to_string(order.key.attempt);
  out["HAI_USER"] = order.user;
  out["HAI_NODE_NAME"] = here.node;
  out["HAI_NODE_RANK"] = std::to_string(numbers.node_rank);
  out["HAI_NNODES"] = std::to_string(numbers.nodes);
  out["HAI_ZONE"] = here.zone;
  out["HAI_LEAF"] = here.leaf;
  out["HAI_CHECKPOINT"] = order.checkpoint;
  out["HAI_SUSPEND_EXIT_CODE"] = std::to_string(order.suspend_exit_code);
  out["CUDA_VISIBLE_DEVICES"] = to_string(order.gpus);
  // CUDA's own order is the fastest first; ours, NVML's and the kernel's is the bus's.
  out["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  out["USER"] = order.user;
  out["LOGNAME"] = order.user;
}

// What programs written for HAI read.
void add_marsv2(const LaunchRank& order, const LocalPaths& paths, Environment& out) {
  const RankPlace& here = place_of(order, order.key.rank);
  const std::string job = std::to_string(order.key.job.value);
  out["MARSV2_NB_NAME"] = order.job_name;
  out["MARSV2_TASK_ID"] = job;
  out["MARSV2_TASK_TYPE"] = "training";
  out["MARSV2_TASK_BACKEND"] = "hai";
  out["MARSV2_TASK_WORKSPACE"] = order.workspace;
  out["MARSV2_TASK_ENTRYPOINT"] = order.entrypoint;
  out["MARSV2_WHOLE_LIFE_STATE"] = life_state_of(order);
  out["MARSV2_USER"] = order.user;
  out["MARSV2_LOG_DIR"] = paths.log_dir;
  out["MARSV2_NODE_NAME"] = here.node;
  out["MARSV2_RANK"] = std::to_string(order.key.rank);
  out["MARSV2_SCHEDULE_ZONE"] = here.zone;
  out["NODE_NAME"] = here.node;
  out["CHAIN_ID"] = job;
  out["IBV_FORK_SAFE"] = "1";
  if (order.watchdog > Duration(0)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(order.watchdog);
    out["HF_WATCHDOG_TIME"] = std::to_string(seconds.count());
  }
}

void add_ranks(const LaunchRank& order, const Numbers& numbers, Environment& out) {
  const std::string& master = place_of(order, 0).address;
  out["MASTER_ADDR"] = master;
  out["MASTER_IP"] = master;
  out["MASTER_PORT"] = std::to_string(order.master_port);
  const bool per_gpu = order.launch == LaunchMode::per_gpu;
  if (per_gpu) {
    out["LOCAL_RANK"] = std::to_string(numbers.local_rank);
    out["LOCAL_WORLD_SIZE"] = std::to_string(numbers.local_size);
  }
  if (order.env_style == EnvStyle::hai) {
    out["RANK"] = std::to_string(numbers.node_rank);
    out["WORLD_SIZE"] = std::to_string(numbers.nodes);
    return;
  }
  out["NODE_RANK"] = std::to_string(numbers.node_rank);
  out["NNODES"] = std::to_string(numbers.nodes);
  out["GROUP_RANK"] = std::to_string(numbers.node_rank);
  if (per_gpu) {  // Else torchrun numbers the processes, and would trip over ours.
    out["RANK"] = std::to_string(numbers.process_rank);
    out["WORLD_SIZE"] = std::to_string(numbers.processes);
  } else {
    out.erase("RANK");
    out.erase("WORLD_SIZE");
  }
}

void add_slurm(const LaunchRank& order, const Numbers& numbers, Environment& out) {
  const RankPlace& here = place_of(order, order.key.rank);
  std::vector<std::string> names;
  for (const RankPlace& place : order.ranks) names.push_back(place.node);
  const std::string nodes = std::to_string(numbers.nodes);
  const std::string tasks = std::to_string(numbers.processes);
  out["SLURM_JOB_ID"] = out["SLURM_JOBID"] = std::to_string(order.key.job.value);
  out["SLURM_JOB_NAME"] = order.job_name;
  out["SLURM_JOB_USER"] = order.user;
  out["SLURM_SUBMIT_DIR"] = order.workspace;
  out["SLURM_NODEID"] = std::to_string(numbers.node_rank);
  out["SLURM_NNODES"] = out["SLURM_JOB_NUM_NODES"] = nodes;
  out["SLURM_NODELIST"] = out["SLURM_JOB_NODELIST"] = format_hostlist(names);
  out["SLURMD_NODENAME"] = here.node;
  out["SLURM_PROCID"] = std::to_string(numbers.process_rank);
  out["SLURM_LOCALID"] = std::to_string(numbers.local_rank);
  out["SLURM_NTASKS"] = out["SLURM_NPROCS"] = tasks;
  if (numbers.processes == numbers.nodes * numbers.local_size) {
    out["SLURM_NTASKS_PER_NODE"] = std::to_string(numbers.local_size);
  }
  out["SLURM_TASKS_PER_NODE"] = folded(sizes_of_ranks(order));
  out["SLURM_GPUS_ON_NODE"] = std::to_string(order.gpus.count());
  if (order.cpus > 0) {
    out["SLURM_CPUS_ON_NODE"] = std::to_string(order.cpus);
    out["SLURM_JOB_CPUS_PER_NODE"] =
        folded(std::vector<int>(static_cast<size_t>(numbers.nodes), order.cpus));
  }
  out["SLURM_LAUNCH_NODE_IPADDR"] = place_of(order, 0).address;
  out["SLURM_RESTART_COUNT"] = std::to_string(std::max(0, order.key.attempt - 1));
}

}  // namespace

std::string life_state_of(const LaunchRank& order) {
  if (!order.whole_life_state.empty()) return order.whole_life_state;
  const auto first = order.environments.find(kFirstLifeState);
  return first == order.environments.end() ? "" : first->second;
}

int process_count(const LaunchRank& order) {
  return order.launch == LaunchMode::per_gpu ? std::max(1, order.gpus.count()) : 1;
}

Environment build_environment(const LaunchRank& order, const LocalPaths& paths, int process) {
  const Numbers numbers = numbers_of(order, process);
  Environment out = paths.base;
  add_identity(order, numbers, out);
  add_marsv2(order, paths, out);
  add_ranks(order, numbers, out);
  if (order.env_style == EnvStyle::slurm) add_slurm(order, numbers, out);
  out["HAI_LOG_DIR"] = paths.log_dir;
  if (!paths.temp_dir.empty()) out["TMPDIR"] = paths.temp_dir;

  for (const auto& [name, value] : order.environments) out[name] = value;

  if (!paths.python_dir.empty()) {  // Last, so that the user's modules win over a copy of ours.
    std::string& path = out["PYTHONPATH"];
    path += (path.empty() ? "" : ":") + paths.python_dir;
  }
  out["HAI_SOCKET"] = paths.socket;
  return out;
}

}  // namespace hai
