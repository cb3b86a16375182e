#include "cli/slurm/map_resources.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

constexpr int kNodesMax = 100'000;
constexpr int kGpusMax = 64;

Status read_count(const ParsedWords& words, const char* name, int high, std::optional<int>& out) {
  const GivenOption* given = words.find(name);
  if (given == nullptr) return ok();
  const Result<int> count = parse_count(*given, 1, high);
  RETURN_IF_ERROR(count.status());
  out = count.value();
  return ok();
}

// "4" and "4-4"; hai's gangs have one size.
Status read_nodes(const ParsedWords& words, std::optional<int>& out) {
  const GivenOption* given = words.find("nodes");
  if (given == nullptr) return ok();
  const size_t dash = given->value.find('-', 1);
  GivenOption first = {given->option, given->value.substr(0, dash), given->where};
  if (dash != std::string::npos && given->value.substr(dash + 1) != first.value) {
    return option_error(*given, fmt::format("'{}': a job has one number of nodes, give no range",
                                            given->value.substr(0, 64)));
  }
  const Result<int> count = parse_count(first, 1, kNodesMax);
  RETURN_IF_ERROR(count.status());
  out = count.value();
  return ok();
}

Status set_nodes_and_tasks(const ParsedWords& words, MappedJob& job) {
  std::optional<int> nodes, tasks, per_node;
  RETURN_IF_ERROR(read_nodes(words, nodes));
  RETURN_IF_ERROR(read_count(words, "ntasks", kTasksMax, tasks));
  RETURN_IF_ERROR(read_count(words, "ntasks-per-node", 10'000, per_node));
  if (!nodes) nodes = tasks && per_node ? (*tasks + *per_node - 1) / *per_node : 1;
  if (*nodes > kNodesMax) return invalid_argument("{} nodes, at most {}", *nodes, kNodesMax);
  if (!tasks) tasks = *nodes * per_node.value_or(1);
  if (*tasks > kTasksMax) return invalid_argument("{} tasks, at most {}", *tasks, kTasksMax);
  if (per_node && int64_t{*nodes} * *per_node < *tasks) {
    return option_error(*words.find("ntasks"),
                        fmt::format("{} tasks do not fit {} nodes with --ntasks-per-node={}",
                                    *tasks, *nodes, *per_node));
  }
  if (*tasks < *nodes) {
    job.warnings.push_back(
        fmt::format("{0} tasks cannot run on {1} nodes: {0} nodes are asked for", *tasks, *nodes));
    nodes = tasks;
  }
  job.spec.node_count = *nodes;
  job.plan.tasks = *tasks;
  job.plan.tasks_per_node = per_node.value_or(0);
  return ok();
}

int most_tasks_on_a_node(const MappedJob& job) {
  return (job.plan.tasks + job.spec.node_count - 1) / job.spec.node_count;
}

Status set_gpus(const ParsedWords& words, MappedJob& job) {
  int& gpus = job.spec.gpus_per_node;
  const auto agree = [&](const GivenOption& given, int64_t count) -> Status {
    if (count < 1 || count > kGpusMax) {
      return option_error(given, fmt::format("{} GPUs per node, must be 1..{}", count, kGpusMax));
    }
    if (gpus == kNoGpus) {
      return option_error(given, fmt::format("{} GPUs per node, another option says none", count));
    }
    if (gpus != 0 && gpus != count) {
      return option_error(given,
                          fmt::format("{} GPUs per node, another option says {}", count, gpus));
    }
    gpus = static_cast<int>(count);
    return ok();
  };
  for (const char* name : {"gres", "gpus-per-node", "gpus", "gpus-per-task"}) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    const Result<GpusAsked> asked = parse_gpus(*given);
    RETURN_IF_ERROR(asked.status());
    const int count = asked.value().count;
    if (!asked.value().type.empty() && count > 0) {
      std::string& type = job.spec.node_filter.gpu_type;
      if (!type.empty() && type != asked.value().type) {
        return option_error(*given, fmt::format("GPUs of type {}, another option says {}",
                                                asked.value().type.substr(0, 64), type));
      }
      type = asked.value().type;
    }
    int64_t per_node = count;
    if (per_node == 0) {
      if (gpus > 0)
        return option_error(*given, fmt::format("no GPUs, another option says {}", gpus));
      gpus = kNoGpus;
      continue;
    }
    if (given->option->name == "gpus") {
      if (per_node % job.spec.node_count != 0) {
        return option_error(
            *given, fmt::format("{} GPUs do not divide by {} nodes", count, job.spec.node_count));
      }
      per_node /= job.spec.node_count;
    } else if (given->option->name == "gpus-per-task") {
      job.plan.gpus_per_task = count;
      per_node *= most_tasks_on_a_node(job);
    }
    RETURN_IF_ERROR(agree(*given, per_node));
  }
  return ok();
}

// "a&b"; hai has no alternatives among features.
Status set_constraint(const ParsedWords& words, MappedJob& job) {
  const GivenOption* given = words.find("constraint");
  if (given == nullptr) return ok();
  std::string_view rest = given->value;
  if (rest.find_first_of("|[]*()!") != std::string_view::npos) {
    return option_error(*given, fmt::format("'{}': a node must have all that is named, write a&b",
                                            rest.substr(0, 64)));
  }
  while (true) {
    const size_t end = rest.find_first_of("&,");
    job.spec.node_filter.labels.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return ok();
    rest.remove_prefix(end + 1);
  }
}

// Which nodes by name. Without a number of nodes or tasks all that are named are asked for.
Status set_named_nodes(const ParsedWords& words, MappedJob& job) {
  NodeFilter& filter = job.spec.node_filter;
  for (const auto& [name, into] :
       {std::pair{"nodelist", &filter.nodes}, std::pair{"exclude", &filter.exclude}}) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    if (given->value.find('/') != std::string::npos) {
      return option_error(*given, "name the nodes, as node-[1-4]; files are not read");
    }
    const auto names = parse_hostlist(given->value, kNodesMax);
    if (!names.is_ok()) return option_error(*given, names.status().message());
    *into = given->value;
    if (into != &filter.nodes) continue;
    const std::set<std::string> distinct(names.value().begin(), names.value().end());
    const auto count = static_cast<int>(distinct.size());
    if (!words.has("nodes") && !words.has("ntasks")) {
      job.spec.node_count = count;
      job.plan.tasks = count * std::max(1, job.plan.tasks_per_node);
    } else if (job.spec.node_count > count) {
      return option_error(
          *given, fmt::format("{} nodes are asked for, and {} named", job.spec.node_count, count));
    }
  }
  return ok();
}

Status set_cpus(const ParsedWords& words, MappedJob& job) {
  std::optional<int> per_task, per_gpu;
  RETURN_IF_ERROR(read_count(words, "cpus-per-task", 65'536, per_task));
  RETURN_IF_ERROR(read_count(words, "cpus-per-gpu", 65'536, per_gpu));
  job.plan.cpus_per_task = per_task.value_or(0);
  if (job.spec.gpus_per_node == 0) {
    const int64_t of_tasks = int64_t{per_task.value_or(0)} * most_tasks_on_a_node(job);
    const int64_t of_gpus = int64_t{per_gpu.value_or(0)} * std::max(1, job.least_gpus);
    job.least_cpus = static_cast<int>(std::min<int64_t>(std::max(of_tasks, of_gpus), 1 << 30));
    if (per_task.value_or(1) > 1 || per_gpu) {
      job.warnings.push_back(
          "no GPU option: the job has whole nodes with all their CPUs, however many it asks for; "
          "--gpus-per-node=N or --gres=none asks for a part of one");
    }
    return ok();
  }
  int64_t cpus = 0;
  if (per_task || !job.spec.asks_gpus()) {
    cpus = int64_t{per_task.value_or(1)} * most_tasks_on_a_node(job);
  }
  if (per_gpu && job.spec.asks_gpus())
    cpus = std::max<int64_t>(cpus, int64_t{*per_gpu} * job.spec.gpus_per_node);
  if (cpus > 65'536) return invalid_argument("{} CPUs per node, at most 65536", cpus);
  job.spec.cpus_per_node = static_cast<int>(cpus);
  return ok();
}

Status set_memory(const ParsedWords& words, MappedJob& job) {
  for (const char* name : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    const Result<int64_t> bytes = parse_memory(*given);
    RETURN_IF_ERROR(bytes.status());
    int64_t times = 1;
    if (given->option->name == "mem-per-cpu") {
      times = int64_t{std::max(1, job.plan.cpus_per_task)} * most_tasks_on_a_node(job);
    } else if (given->option->name == "mem-per-gpu") {
      times = std::max(job.spec.gpus_per_node, job.least_gpus);
      if (times <= 0) return option_error(*given, "say how many GPUs, or use --mem");
    }
    constexpr int64_t kMost = int64_t{1} << 50;
    if (bytes.value() > kMost / times) return option_error(*given, "more than 1024T per node");
    job.spec.memory_per_node_bytes = bytes.value() * times;
  }
  return ok();
}

// Whole nodes with all that they have, as Slurm's --exclusive; a number of GPUs is what they must
// have at least.
void set_exclusive(MappedJob& job) {
  int& gpus = job.spec.gpus_per_node;
  if (gpus > 0) {
    job.warnings.push_back(fmt::format(
        "--exclusive: the job has whole nodes with all their GPUs, of which there are {} or more",
        gpus));
    job.least_gpus = gpus;
  } else if (gpus == kNoGpus) {
    job.warnings.push_back("--exclusive: the job has whole nodes, and with them their GPUs");
  }
  gpus = 0;
}

}  // namespace

Result<int64_t> parse_memory(const GivenOption& given) {
  std::string text = given.value;
  int shift = 20;
  if (!text.empty() && (text.back() == 'b' || text.back() == 'B')) text.pop_back();
  constexpr std::string_view kUnits = "KMGT";
  if (!text.empty()) {
    const size_t unit = kUnits.find(static_cast<char>(text.back() & ~0x20));
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.pop_back();
    }
  }
  const GivenOption number = {given.option, text, given.where};
  const Result<int> count = parse_count(number, 0, 1 << 30);
  if (!count.is_ok()) {
    return option_error(given,
                        fmt::format("'{}': write 64G, 1500M or 1T", given.value.substr(0, 64)));
  }
  constexpr int64_t kMost = int64_t{1} << 50;
  if (count.value() > (kMost >> shift)) return option_error(given, "more than 1024T");
  return int64_t{count.value()} << shift;
}

Result<GpusAsked> parse_gpus(const GivenOption& given) {
  std::string_view text = given.value;
  const Status bad =
      option_error(given, fmt::format("'{}': write {}", text.substr(0, 64),
                                      given.option->name == "gres" ? "gpu:N, gpu:TYPE:N or none"
                                                                   : "the number of GPUs"));
  if (given.option->name == "gres") {
    if (text == "gpu") return GpusAsked{1, ""};
    if (text == "none") return GpusAsked{};
    if (!text.starts_with("gpu:")) return bad;
    if (text.find(',') != std::string_view::npos) {
      return option_error(
          given, fmt::format("'{}': hai counts GPUs alone, write gpu:N or gpu:TYPE:N and nothing "
                             "else",
                             text.substr(0, 64)));
    }
    text.remove_prefix(4);
  }
  GpusAsked asked;
  const size_t colon = text.rfind(':');
  if (colon == 0) return bad;
  if (colon != std::string_view::npos) {
    asked.type = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const GivenOption number = {given.option, std::string(text), given.where};
  const Result<int> count = parse_count(number, 0, 1'000'000);
  if (!count.is_ok()) return bad;
  asked.count = count.value();
  return asked;
}

Status set_resources(const ParsedWords& words, MappedJob& job) {
  RETURN_IF_ERROR(set_nodes_and_tasks(words, job));
  RETURN_IF_ERROR(set_named_nodes(words, job));
  RETURN_IF_ERROR(set_constraint(words, job));
  RETURN_IF_ERROR(set_gpus(words, job));
  if (words.has("exclusive")) set_exclusive(job);
  RETURN_IF_ERROR(set_cpus(words, job));
  return set_memory(words, job);
}

}  // namespace hai::cli::slurm
