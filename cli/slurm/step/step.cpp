#include "cli/slurm/step/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>

#include "cli/slurm/map_job.h"
#include "cli/slurm/map_resources.h"
#include "cli/slurm/mpi_option.h"
#include "cli/slurm/step/frame.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

template <typename Terminal, typename Visit>
void for_each_number_of_terminal(Terminal& terminal, const Visit& visit) {
  visit(terminal.is_wanted);
  visit(terminal.rows);
  visit(terminal.columns);
}

template <typename Step, typename Visit>
void for_each_number(
    Step& step, const Visit& visit) requires std::same_as<std::remove_const_t<Step>, StepRequest> {
  visit(step.nodes);
  visit(step.tasks);
  visit(step.tasks_per_node);
  visit(step.cpus_per_task);
  visit(step.gpus_per_task);
  visit(step.gpus);
  visit(step.gpus_per_node);
  visit(step.no_gpus);
  visit(step.exclusive);
  visit(step.overlap);
  visit(step.mpi);
  for_each_number_of_terminal(step.terminal, visit);
}

template <typename Step, typename Visit>
void for_each_number(
    Step& step, const Visit& visit) requires std::same_as<std::remove_const_t<Step>, StepLaunch> {
  visit(step.first_task);
  visit(step.node_tasks);
  visit(step.node_index);
  visit(step.tasks);
  visit(step.nodes);
  visit(step.cpus_per_task);
  visit(step.gpus_per_task);
  visit(step.has_own_gpus);
  for_each_number_of_terminal(step.terminal, visit);
}

template <typename Step>
std::vector<std::string> numbers_of(const Step& step) {
  std::vector<std::string> texts;
  for_each_number(step, [&](int number) { texts.push_back(std::to_string(number)); });
  return texts;
}

template <typename Step>
Status take_numbers(const std::vector<std::string>& texts, Step& step) {
  size_t at = 0;
  bool is_fine = true;
  for_each_number(step, [&](int& number) {
    if (at >= texts.size()) {
      is_fine = false;
      return;
    }
    const std::string& text = texts[at++];
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    is_fine = is_fine && parsed.ec == std::errc() && number >= 0 && number <= kTasksMax;
  });
  is_fine = is_fine && at == texts.size();
  return is_fine ? ok() : invalid_argument("a message of a job step with bad numbers");
}

// The lists of texts inside a list of texts.
Result<std::vector<std::vector<std::string>>> unpack_lists(std::string_view body, size_t count) {
  const auto outer = unpack(body);
  RETURN_IF_ERROR(outer.status());
  if (outer.value().size() != count) return invalid_argument("a message of another version");
  std::vector<std::vector<std::string>> lists;
  for (const std::string& packed : outer.value()) {
    auto inner = unpack(packed);
    RETURN_IF_ERROR(inner.status());
    lists.push_back(std::move(inner.value()));
  }
  return lists;
}

Status read_number(const ParsedWords& words, const char* name, int high, int& out) {
  const GivenOption* given = words.find(name);
  if (given == nullptr) return ok();
  const Result<int> count = parse_count(*given, 1, high);
  RETURN_IF_ERROR(count.status());
  out = count.value();
  return ok();
}

Status read_gpus(const ParsedWords& words, StepRequest& request) {
  const std::pair<const char*, int*> kOptions[] = {{"gpus", &request.gpus},
                                                   {"gpus-per-node", &request.gpus_per_node},
                                                   {"gres", &request.gpus_per_node},
                                                   {"gpus-per-task", &request.gpus_per_task}};
  for (const auto& [name, into] : kOptions) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    if (given->value == "0" || given->value == "none" || given->value == "gpu:0") {
      request.no_gpus = 1;
      continue;
    }
    const Result<GpusAsked> gpus = parse_gpus(*given);  // all of a job's are of one type
    RETURN_IF_ERROR(gpus.status());
    *into = std::min(gpus.value().count, kTasksMax);
  }
  if (request.no_gpus != 0 && (request.gpus | request.gpus_per_node | request.gpus_per_task) != 0) {
    return invalid_argument("one option asks for GPUs, another one for none");
  }
  return ok();
}

// The job's ranks that the step may use.
Result<std::vector<int>> ranks_of(const StepRequest& request,
                                  const std::vector<std::string>& names) {
  const auto wanted = parse_hostlist(request.node_list);
  RETURN_IF_ERROR(wanted.status());
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : wanted.value()) {
    if (!has(names, name)) {
      return invalid_argument("node {} is not one of this job's: {}", name,
                              hostlist_in_order(names));
    }
  }
  std::vector<int> ranks;
  for (size_t rank = 0; rank < names.size(); ++rank) {
    if (wanted.value().empty() || has(wanted.value(), names[rank])) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

struct StepSize {
  int nodes;
  int tasks;
};

Result<StepSize> size_of(const StepRequest& request, const JobPlan& job, int usable, int all) {
  const int per_node =
      request.tasks_per_node > 0 ? request.tasks_per_node : std::max(1, job.tasks_per_node);
  int nodes = request.nodes;
  if (nodes == 0 && request.tasks > 0 && request.tasks_per_node > 0) {
    nodes = (request.tasks + per_node - 1) / per_node;
  }
  if (nodes == 0) nodes = request.tasks > 0 ? std::min(request.tasks, usable) : usable;
  if (nodes > usable || nodes == 0) {
    return invalid_argument("{} nodes asked for, this job has {}{}", nodes, usable,
                            usable < all ? " that may be used" : "");
  }
  int tasks = request.tasks;
  if (tasks == 0) {
    tasks = nodes == all && request.tasks_per_node == 0 ? job.tasks : nodes * per_node;
  }
  if (tasks > kTasksMax) return invalid_argument("{} tasks, at most {}", tasks, kTasksMax);
  return StepSize{std::min(nodes, tasks), tasks};
}

}  // namespace

std::string encode_request(const StepRequest& request) {
  return pack({pack(numbers_of(request)),
               pack({request.node_list, request.directory, request.kill_on_bad_exit ? "1" : "0"}),
               pack(request.command), pack(request.environment)});
}

Result<StepRequest> decode_request(std::string_view body) {
  auto lists = unpack_lists(body, 4);
  RETURN_IF_ERROR(lists.status());
  StepRequest request;
  RETURN_IF_ERROR(take_numbers(lists.value()[0], request));
  const std::vector<std::string>& texts = lists.value()[1];
  if (texts.size() != 3 || lists.value()[2].empty()) {
    return invalid_argument("a job step without a command");
  }
  request.node_list = texts[0];
  request.directory = texts[1];
  request.kill_on_bad_exit = texts[2] == "1";
  request.command = std::move(lists.value()[2]);
  request.environment = std::move(lists.value()[3]);
  return request;
}

std::string encode_launch(const StepLaunch& launch) {
  return pack({pack(numbers_of(launch)),
               pack({launch.tasks_by_node, launch.node_list, launch.directory, launch.gpus,
                     launch.mpi_space}),
               pack(launch.command), pack(launch.environment)});
}

Result<StepLaunch> decode_launch(std::string_view body) {
  auto lists = unpack_lists(body, 4);
  RETURN_IF_ERROR(lists.status());
  StepLaunch launch;
  RETURN_IF_ERROR(take_numbers(lists.value()[0], launch));
  const std::vector<std::string>& texts = lists.value()[1];
  if (texts.size() != 5 || lists.value()[2].empty()) {
    return invalid_argument("a job step without a command");
  }
  launch.tasks_by_node = texts[0];
  launch.node_list = texts[1];
  launch.directory = texts[2];
  launch.gpus = texts[3];
  launch.mpi_space = texts[4];
  launch.command = std::move(lists.value()[2]);
  launch.environment = std::move(lists.value()[3]);
  return launch;
}

Result<StepRequest> step_of_options(const ParsedWords& words) {
  StepRequest request;
  if (const GivenOption* given = words.find("nodes")) {
    // Any range is fine here: the job has its nodes.
    const GivenOption first = {given->option, given->value.substr(0, given->value.find('-', 1)),
                               given->where};
    const Result<int> count = parse_count(first, 1, 100'000);
    RETURN_IF_ERROR(count.status());
    request.nodes = count.value();
  }
  RETURN_IF_ERROR(read_number(words, "ntasks", kTasksMax, request.tasks));
  RETURN_IF_ERROR(read_number(words, "ntasks-per-node", 10'000, request.tasks_per_node));
  RETURN_IF_ERROR(read_number(words, "cpus-per-task", 65'536, request.cpus_per_task));
  RETURN_IF_ERROR(read_gpus(words, request));
  request.exclusive = words.has("exclusive") || words.has("exact") ? 1 : 0;
  request.overlap = words.has("overlap") ? 1 : 0;
  request.terminal.is_wanted = words.has("pty") ? 1 : 0;
  if (request.terminal.is_wanted != 0) {
    if (std::max({request.tasks, request.tasks_per_node, request.nodes}) > 1) {
      return invalid_argument("--pty is for one task: the others would have no terminal");
    }
    request.tasks = 1;
  }
  request.node_list = words.value_of("nodelist");
  request.directory = words.value_of("chdir");
  request.mpi = wants_pmix(words) ? 1 : 0;
  request.kill_on_bad_exit = kills_on_bad_exit(words);
  return request;
}

Result<StepShape> shape_of(const StepRequest& request, const JobPlan& job,
                           const std::vector<std::string>& names) {
  StepShape shape;
  Result<std::vector<int>> ranks = ranks_of(request, names);
  RETURN_IF_ERROR(ranks.status());
  const Result<StepSize> size =
      size_of(request, job, static_cast<int>(ranks.value().size()), static_cast<int>(names.size()));
  RETURN_IF_ERROR(size.status());
  shape.ranks = std::move(ranks.value());
  shape.tasks = size.value().tasks;
  shape.tasks_by_node = tasks_by_node(size.value().tasks, size.value().nodes);
  return shape;
}

std::vector<RankLaunch> launches_on(const std::vector<int>& ranks, const StepShape& shape,
                                    const StepRequest& request, const JobPlan& job,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> step_names;
  for (const int rank : ranks) step_names.push_back(names[static_cast<size_t>(rank)]);
  StepLaunch launch = {
      .tasks = shape.tasks,
      .tasks_by_node = format_tasks_by_node(shape.tasks_by_node),
      .node_list = hostlist_in_order(step_names),
      .nodes = static_cast<int>(ranks.size()),
      .cpus_per_task = request.cpus_per_task > 0 ? request.cpus_per_task : job.cpus_per_task,
      .gpus_per_task = request.asks_gpus() ? request.gpus_per_task : job.gpus_per_task,
      .terminal = request.terminal,
      .directory = request.directory,
      .command = request.command,
      .environment = request.environment};
  std::vector<RankLaunch> launches;
  for (size_t i = 0; i < ranks.size(); ++i) {
    launch.node_index = static_cast<int>(i);
    launch.node_tasks = shape.tasks_by_node[i];
    launches.push_back({ranks[i], launch});
    launch.first_task += launch.node_tasks;
  }
  return launches;
}

Result<std::vector<RankLaunch>> plan_step(const StepRequest& request, const JobPlan& job,
                                          const std::vector<std::string>& names) {
  Result<StepShape> shape = shape_of(request, job, names);
  RETURN_IF_ERROR(shape.status());
  std::vector<int> ranks = shape.value().ranks;
  ranks.resize(shape.value().tasks_by_node.size());
  return launches_on(ranks, shape.value(), request, job, names);
}

std::string hostlist_in_order(const std::vector<std::string>& names) {
  std::string whole = format_hostlist(names);
  const auto expanded = parse_hostlist(whole);
  if (expanded.is_ok() && expanded.value() == names) return whole;
  // The longest pieces that are sorted already; looking for them takes its time.
  constexpr size_t kSearchedMax = 256;
  if (names.size() > kSearchedMax) return fmt::format("{}", fmt::join(names, ","));
  std::string text;
  for (size_t begin = 0; begin < names.size();) {
    size_t end = begin + 1;
    std::string piece = names[begin];
    while (end < names.size()) {
      const std::vector<std::string> longer(names.begin() + static_cast<std::ptrdiff_t>(begin),
                                            names.begin() + static_cast<std::ptrdiff_t>(end) + 1);
      std::string form = format_hostlist(longer);
      const auto back = parse_hostlist(form);
      if (!back.is_ok() || back.value() != longer) break;
      piece = std::move(form);
      ++end;
    }
    text += (text.empty() ? "" : ",") + piece;
    begin = end;
  }
  return text;
}

}  // namespace hai::cli::slurm
