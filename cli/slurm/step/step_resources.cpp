#include "cli/slurm/step/step_resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/slurm/step/frame.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

// GPUs in all, dealt out as the tasks are: 5 on 2 nodes are 3 and 2.
int share_of_total(int total, size_t index, size_t nodes) {
  return tasks_by_node(total, static_cast<int>(nodes))[index];
}

// `gpus_there`: of the node, for a step that takes all.
StepResources::Need need_of(const StepRequest& request, const JobPlan& job, int tasks, size_t index,
                            size_t nodes, int gpus_there) {
  StepResources::Need need;
  const int per_task = request.asks_gpus() ? request.gpus_per_task : job.gpus_per_task;
  if (request.no_gpus == 0) {
    if (request.gpus > 0) {
      need.gpus = share_of_total(request.gpus, index, nodes);
    } else if (request.gpus_per_node > 0) {
      need.gpus = request.gpus_per_node;
    } else if (per_task > 0) {
      need.gpus = per_task * tasks;
    } else {
      need.gpus = gpus_there;  // all that the job has there, as Slurm gives them
    }
  }
  // CPUs count where the step speaks of them, or of nothing else.
  const bool counts_cpus = request.cpus_per_task > 0 || !request.asks_gpus();
  if (request.exclusive != 0 && counts_cpus) need.cpus = tasks * std::max(1, request.cpus_per_task);
  return need;
}

RankResources resources_from(std::string_view devices, std::string_view cpus) {
  RankResources found;
  while (!devices.empty()) {
    const size_t comma = std::min(devices.find(','), devices.size());
    if (comma > 0) found.gpus.emplace_back(devices.substr(0, comma));
    devices.remove_prefix(std::min(comma + 1, devices.size()));
  }
  found.cpus = std::max(0, whole_number<int>(cpus).value_or(0));
  return found;
}

}  // namespace

RankResources resources_of(const EnvironmentMap& rank) {
  const auto value_of = [&](const char* name) {
    const auto found = rank.find(name);
    return found == rank.end() ? std::string() : found->second;
  };
  return resources_from(value_of("CUDA_VISIBLE_DEVICES"), value_of("SLURM_CPUS_ON_NODE"));
}

std::string encode_resources(const RankResources& resources) {
  return pack({std::to_string(resources.cpus), fmt::format("{}", fmt::join(resources.gpus, ","))});
}

Result<RankResources> decode_resources(std::string_view body) {
  const auto texts = unpack(body);
  RETURN_IF_ERROR(texts.status());
  if (texts.value().size() != 2) return invalid_argument("a message of another version");
  return resources_from(texts.value()[1], texts.value()[0]);
}

void StepResources::announce(size_t rank, const RankResources& resources) {
  if (rank >= ranks_.size() || ranks_[rank].all) return;
  ranks_[rank].all = resources;
  ranks_[rank].gpu_steps.assign(resources.gpus.size(), std::nullopt);
}

// Whether a part of a step has room on a node: never, not now, or now.
StepResources::Room StepResources::room_on(const Rank& rank, const Need& need, bool is_shared) {
  if (!rank.all) return Room::later;  // it has just joined and will say
  // A node that does not say how many CPUs it gives has enough.
  const bool counts_cpus = rank.all->cpus > 0 && need.cpus > 0;
  if (need.gpus > static_cast<int>(rank.all->gpus.size())) return Room::never;
  if (counts_cpus && need.cpus > rank.all->cpus) return Room::never;
  if (is_shared) return Room::now;
  int cpus_free = rank.all->cpus;
  for (const auto& [step, cpus] : rank.cpus) cpus_free -= cpus;
  const auto gpus_free = std::count(rank.gpu_steps.begin(), rank.gpu_steps.end(), std::nullopt);
  const bool fits = need.gpus <= gpus_free && (!counts_cpus || need.cpus <= cpus_free);
  return fits ? Room::now : Room::later;
}

Result<std::optional<StepResources::Choice>> StepResources::choose(
    const StepRequest& request, const JobPlan& job, const StepShape& shape,
    const std::vector<std::string>& names) const {
  Choice choice;
  const std::vector<int>& counts = shape.tasks_by_node;
  for (size_t index = 0; index < counts.size(); ++index) {
    bool can_ever_be = false;
    std::string lack;
    for (const int candidate : shape.ranks) {
      if (std::find(choice.ranks.begin(), choice.ranks.end(), candidate) != choice.ranks.end()) {
        continue;
      }
      const Rank& rank = ranks_[static_cast<size_t>(candidate)];
      const int gpus_there = rank.all ? static_cast<int>(rank.all->gpus.size()) : 0;
      const Need need = need_of(request, job, counts[index], index, counts.size(), gpus_there);
      const Room room = room_on(rank, need, request.overlap != 0);
      can_ever_be = can_ever_be || room != Room::never;
      if (room == Room::never) {
        lack = fmt::format("{} GPUs and {} CPUs asked for on {}, this job has {} and {} there",
                           need.gpus, need.cpus, names[static_cast<size_t>(candidate)], gpus_there,
                           rank.all->cpus);
      } else if (room == Room::now) {
        choice.ranks.push_back(candidate);
        choice.needs.push_back(need);
        break;
      }
    }
    if (choice.ranks.size() > index) continue;
    if (!can_ever_be) return invalid_argument("{}", lack);
    return std::optional<Choice>();
  }
  return std::optional<Choice>(std::move(choice));
}

Result<std::optional<std::vector<RankLaunch>>> StepResources::place(
    uint32_t step, const StepRequest& request, const JobPlan& job,
    const std::vector<std::string>& names) {
  using Launches = std::optional<std::vector<RankLaunch>>;
  if (!request.takes_resources()) {
    Result<std::vector<RankLaunch>> plan = plan_step(request, job, names);
    RETURN_IF_ERROR(plan.status());
    return Launches(std::move(plan.value()));
  }
  const Result<StepShape> shape = shape_of(request, job, names);
  RETURN_IF_ERROR(shape.status());
  const auto choice = choose(request, job, shape.value(), names);
  RETURN_IF_ERROR(choice.status());
  if (!choice.value()) return Launches();
  std::vector<RankLaunch> launches =
      launches_on(choice.value()->ranks, shape.value(), request, job, names);
  for (size_t index = 0; index < launches.size(); ++index) {
    Rank& rank = ranks_[static_cast<size_t>(launches[index].rank)];
    const Need& need = choice.value()->needs[index];
    launches[index].launch.has_own_gpus = 1;
    launches[index].launch.gpus = take(rank, step, need, request.overlap != 0);
  }
  return Launches(std::move(launches));
}

std::string StepResources::take(Rank& rank, uint32_t step, const Need& need, bool is_shared) {
  std::vector<std::string> mine;
  for (size_t gpu = 0; gpu < rank.gpu_steps.size(); ++gpu) {
    if (static_cast<int>(mine.size()) == need.gpus) break;
    if (rank.gpu_steps[gpu] && !is_shared) continue;
    if (!is_shared) rank.gpu_steps[gpu] = step;
    mine.push_back(rank.all->gpus[gpu]);
  }
  if (need.cpus > 0 && !is_shared) rank.cpus.emplace_back(step, need.cpus);
  return fmt::format("{}", fmt::join(mine, ","));
}

void StepResources::release(uint32_t step) {
  for (Rank& rank : ranks_) {
    std::replace(rank.gpu_steps.begin(), rank.gpu_steps.end(), std::optional<uint32_t>(step),
                 std::optional<uint32_t>());
    std::erase_if(rank.cpus, [&](const auto& taken) { return taken.first == step; });
  }
}

}  // namespace hai::cli::slurm
