#include "cli/slurm/step/task_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/slurm/step/work_directory.h"

namespace hai::cli::slurm {
namespace {

// What a job brings along for its ranks, and nobody else is to see.
constexpr const char* kTravelling[] = {kPlanVariable, kScriptVariable, kFunctionsVariable,
                                       kKeyVariable};

// Different on each node; what the script set of these was meant for its own.
bool is_of_the_node(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "TMPDIR", "NODE_RANK", "GROUP_RANK",
       "NODE_NAME", "SLURMD_NODENAME", "SLURM_GPUS_ON_NODE", "SLURM_CPUS_ON_NODE"});
  return name.starts_with("HAI_") || name.starts_with("MARSV2_") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// "0,1,2,3" and the third pair of it is "": a task without GPUs sees none.
std::string share_of(const std::string& devices, int local_task, int each) {
  std::vector<std::string_view> all;
  std::string_view rest = devices;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    all.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const size_t begin = std::min(all.size(), static_cast<size_t>(local_task) * each);
  const size_t end = std::min(all.size(), begin + static_cast<size_t>(each));
  return fmt::format("{}", fmt::join(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                     all.begin() + static_cast<std::ptrdiff_t>(end), ","));
}

}  // namespace

EnvironmentMap map_of(const std::vector<std::string>& texts) {
  EnvironmentMap environment;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

std::vector<std::string> texts_of(const EnvironmentMap& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  return texts;
}

EnvironmentMap script_environment(const EnvironmentMap& rank, const JobPlan& plan,
                                  const std::vector<std::string>& names) {
  EnvironmentMap out = rank;
  if (const auto text = rank.find(kFunctionsVariable); text != rank.end()) {
    // A text that is none is no reason not to run.
    const Result<EnvironmentMap> functions = parse_functions(text->second);
    if (functions.is_ok()) out.insert(functions.value().begin(), functions.value().end());
  }
  for (const char* name : kTravelling) out.erase(name);
  const auto counts = tasks_by_node(plan.tasks, static_cast<int>(names.size()));
  out["SLURM_JOB_NAME"] = plan.name;
  out["SLURM_JOB_PARTITION"] = plan.partition;
  out["SLURM_CLUSTER_NAME"] = "hai";
  out["SLURM_SUBMIT_DIR"] = plan.submit_dir;
  out["SLURM_SUBMIT_HOST"] = plan.submit_host;
  out["SLURM_NNODES"] = out["SLURM_JOB_NUM_NODES"] = std::to_string(names.size());
  out["SLURM_NODELIST"] = out["SLURM_JOB_NODELIST"] = hostlist_in_order(names);
  out["SLURM_NTASKS"] = out["SLURM_NPROCS"] = std::to_string(plan.tasks);
  out["SLURM_TASKS_PER_NODE"] = format_tasks_by_node(counts);
  out["SLURM_NODEID"] = out["SLURM_PROCID"] = out["SLURM_LOCALID"] = "0";
  out["SLURM_JOB_GPUS"] = out["CUDA_VISIBLE_DEVICES"];
  out.erase("SLURM_NTASKS_PER_NODE");
  if (plan.tasks_per_node > 0) {
    out["SLURM_NTASKS_PER_NODE"] = std::to_string(plan.tasks_per_node);
  }
  if (!plan.container_image.empty()) {
    out[kContainerImageVariable] = plan.container_image;
    out[kContainerMountsVariable] = fmt::format("{}", fmt::join(plan.container_mounts, ","));
  }
  if (plan.cpus_per_task > 0) out["SLURM_CPUS_PER_TASK"] = std::to_string(plan.cpus_per_task);
  if (plan.gpus_per_task > 0) out["SLURM_GPUS_PER_TASK"] = std::to_string(plan.gpus_per_task);
  return out;
}

EnvironmentMap task_environment(const StepLaunch& launch, uint32_t step, int local_task,
                                const EnvironmentMap& rank) {
  EnvironmentMap out = map_of(launch.environment);
  const std::string script_bin = out[kBinVariable];
  std::erase_if(out, [](const auto& entry) { return is_of_the_node(entry.first); });
  for (const auto& [name, value] : rank) {
    if (is_of_the_node(name)) out[name] = value;
  }
  for (const char* name : kTravelling) out.erase(name);
  if (const auto bin = rank.find(kBinVariable); bin != rank.end()) {
    out["PATH"] = path_with_bin(out["PATH"], bin->second, script_bin);
  }
  const std::string tasks = std::to_string(launch.tasks);
  out["SLURM_PROCID"] = std::to_string(launch.first_task + local_task);
  out["SLURM_LOCALID"] = std::to_string(local_task);
  out["SLURM_NODEID"] = std::to_string(launch.node_index);
  out["SLURM_NTASKS"] = out["SLURM_NPROCS"] = out["SLURM_STEP_NUM_TASKS"] = tasks;
  out["SLURM_NNODES"] = out["SLURM_STEP_NUM_NODES"] = std::to_string(launch.nodes);
  out["SLURM_TASKS_PER_NODE"] = out["SLURM_STEP_TASKS_PER_NODE"] = launch.tasks_by_node;
  out["SLURM_STEP_NODELIST"] = launch.node_list;
  out["SLURM_STEP_ID"] = out["SLURM_STEPID"] = std::to_string(step);
  if (launch.cpus_per_task > 0) out["SLURM_CPUS_PER_TASK"] = std::to_string(launch.cpus_per_task);
  if (launch.has_own_gpus != 0) {
    out["SLURM_STEP_GPUS"] = out["CUDA_VISIBLE_DEVICES"] = launch.gpus;
    const auto commas = std::count(launch.gpus.begin(), launch.gpus.end(), ',');
    out["SLURM_GPUS_ON_NODE"] = std::to_string(launch.gpus.empty() ? 0 : commas + 1);
  }
  if (launch.gpus_per_task > 0) {
    out["SLURM_GPUS_PER_TASK"] = std::to_string(launch.gpus_per_task);
    const std::string mine =
        share_of(out["CUDA_VISIBLE_DEVICES"], local_task, launch.gpus_per_task);
    out["SLURM_STEP_GPUS"] = out["CUDA_VISIBLE_DEVICES"] = mine;
  }
  return out;
}

}  // namespace hai::cli::slurm
