#include "cli/slurm/job_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/slurm/map_job.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

using PlanJson = nlohmann::json;
constexpr auto kReplace = PlanJson::error_handler_t::replace;

// visit(key, field) for every field.
template <typename Plan, typename Visit>
void for_each_field(Plan& plan, const Visit& visit) {
  visit("name", plan.name);
  visit("script", plan.script);
  visit("command", plan.command);
  visit("arguments", plan.arguments);
  visit("tasks", plan.tasks);
  visit("tasks_per_node", plan.tasks_per_node);
  visit("cpus_per_task", plan.cpus_per_task);
  visit("gpus_per_task", plan.gpus_per_task);
  visit("partition", plan.partition);
  visit("submit_dir", plan.submit_dir);
  visit("submit_host", plan.submit_host);
  visit("output", plan.output);
  visit("error", plan.error);
  visit("is_default_output", plan.is_default_output);
  visit("append", plan.append);
  visit("signal", plan.signal);
  visit("signal_script", plan.signal_script);
  visit("signal_seconds", plan.signal_seconds);
  visit("time_limit_seconds", plan.time_limit_seconds);
  visit("label", plan.label);
  visit("kill_on_bad_exit", plan.kill_on_bad_exit);
  visit("mpi", plan.mpi);
  visit("container_image", plan.container_image);
  visit("container_mounts", plan.container_mounts);
  visit("container_directory", plan.container_directory);
}

}  // namespace

std::string format_plan(const JobPlan& plan) {
  PlanJson json;
  for_each_field(plan, [&](const char* key, const auto& field) { json[key] = field; });
  return json.dump(-1, ' ', false, kReplace);
}

Result<JobPlan> parse_plan(std::string_view text) {
  JobPlan plan;
  try {
    const PlanJson json = PlanJson::parse(text);
    json.at("tasks");
    // What an older sbatch did not know yet is as it was then.
    for_each_field(plan, [&](const char* key, auto& field) {
      if (const auto found = json.find(key); found != json.end()) found->get_to(field);
    });
  } catch (const PlanJson::exception& error) {
    return invalid_argument("{}: {}", kPlanVariable, error.what());
  }
  if (plan.tasks < 1 || plan.tasks > kTasksMax) {
    return invalid_argument("{}: {} tasks", kPlanVariable, plan.tasks);
  }
  return plan;
}

std::string format_functions(const EnvironmentMap& functions, std::vector<std::string>& warnings) {
  constexpr size_t kBytesMax = 60'000;  // a variable of a job has a limit
  PlanJson json = PlanJson::object();
  size_t bytes = 0;
  for (const auto& [name, text] : functions) {
    const std::string quoted = PlanJson({{name, text}}).dump(-1, ' ', false, kReplace);
    if (bytes + quoted.size() > kBytesMax) {
      warnings.push_back(
          fmt::format("the shell function {} does not travel: with it they have more "
                      "than {} bytes",
                      name, kBytesMax));
      continue;
    }
    bytes += quoted.size();
    json[name] = text;
  }
  return json.empty() ? "" : json.dump(-1, ' ', false, kReplace);
}

Result<EnvironmentMap> parse_functions(std::string_view text) {
  if (text.empty()) return EnvironmentMap{};
  try {
    return PlanJson::parse(text).get<EnvironmentMap>();
  } catch (const PlanJson::exception& error) {
    return invalid_argument("{}: {}", kFunctionsVariable, error.what());
  }
}

std::vector<int> tasks_by_node(int tasks, int nodes) {
  std::vector<int> counts;
  for (int node = 0; node < nodes; ++node) {
    counts.push_back(tasks / nodes + (node < tasks % nodes ? 1 : 0));
  }
  return counts;
}

std::string format_tasks_by_node(const std::vector<int>& tasks) {
  std::string text;
  for (size_t i = 0; i < tasks.size();) {
    size_t end = i;
    while (end < tasks.size() && tasks[end] == tasks[i]) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", tasks[i]);
    if (end - i > 1) text += fmt::format("(x{})", end - i);
    i = end;
  }
  return text;
}

Result<std::vector<int>> parse_tasks_by_node(std::string_view text) {
  const Status bad = invalid_argument("a message of a job step with bad tasks of nodes");
  std::vector<int> counts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (text.empty() && comma != std::string_view::npos) return bad;
    std::optional<int> times = 1;
    if (const size_t open = part.find("(x"); open != std::string_view::npos && part.back() == ')') {
      times = whole_number<int>(part.substr(open + 2, part.size() - open - 3));
      part = part.substr(0, open);
    }
    const std::optional<int> count = whole_number<int>(part);
    const bool is_fine = count && times && *count >= 0 && *count <= kTasksMax && *times >= 1 &&
                         *times <= kTasksMax - static_cast<int>(counts.size());
    if (!is_fine) return bad;
    counts.insert(counts.end(), static_cast<size_t>(*times), *count);
  }
  return counts;
}

}  // namespace hai::cli::slurm
