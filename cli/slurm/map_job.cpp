#include "cli/slurm/map_job.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/slurm/map_container.h"
#include "cli/slurm/map_resources.h"
#include "cli/slurm/mpi_option.h"
#include "cli/slurm/slurm_time.h"
#include "common/array_range.h"
#include "common/dependency.h"
#include "common/signal_name.h"
#include "common/spec/check_job_spec.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

Status set_priority(const ParsedWords& words, JobSpec& spec) {
  for (const char* name : {"qos", "priority"}) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    if (given->value == "interactive") {
      spec.is_interactive = true;
      continue;
    }
    const Result<Priority> priority = parse_priority(given->value);
    if (!priority.is_ok()) return option_error(*given, priority.status().message());
    spec.priority = priority.value();
  }
  if (const GivenOption* given = words.find("nice")) {
    int nice = 100;  // Slurm's, when no value is given
    const std::string& text = given->value;
    if (!text.empty()) {
      const std::optional<int> number = whole_number<int>(text);
      if (!number) {
        return option_error(*given, fmt::format("'{}' is no number", text.substr(0, 64)));
      }
      nice = *number;
    }
    if (nice < 0) return option_error(*given, "ask for a higher priority with --qos");
    if (nice > 0) spec.priority = Priority::low;
  }
  return ok();
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// What Slurm has and hai has not.
std::string dependency_reason(std::string_view type) {
  if (type == "afterburstbuffer") return "hai has no burst buffers";
  if (type == "expand") return "hai's jobs do not grow";
  return fmt::format("the condition must be {}", kDependencyConditions);
}

// "afterok:12:13,afterany:14" or "singleton": all of them. With ? for the comma any of them would
// do, which hai does not have.
Status set_dependencies(const ParsedWords& words, JobSpec& spec) {
  const GivenOption* given = words.find("dependency");
  if (given == nullptr) return ok();
  const auto refuse = [&](std::string_view why) {
    return option_error(*given, fmt::format("'{}': {}", given->value.substr(0, 64), why));
  };
  if (given->value.find('?') != std::string::npos) {
    return refuse("with ? any of them would do; hai waits for all of them, so write a comma");
  }
  for (const std::string& item : parts_of(given->value, ',')) {
    if (item == "singleton") {
      spec.depends_on.push_back(item);
      continue;
    }
    const size_t colon = item.find(':');
    const std::string type = item.substr(0, colon);
    const bool is_known = type == "afterok" || type == "afterany" || type == "afternotok" ||
                          type == "after" || type == "aftercorr";
    if (!is_known) return refuse(dependency_reason(type));
    if (colon == std::string::npos) return refuse("name jobs after it: " + type + ":ID[:ID...]");
    for (const std::string& id : parts_of(item.substr(colon + 1), ':')) {
      if (id.find('+') != std::string::npos) {
        return refuse("a time after the start (+MINUTES) is not supported; leave it out");
      }
      // 17_* is the whole array.
      const std::string job = id.ends_with("_*") ? id.substr(0, id.size() - 2) : id;
      const Result<DependencyWord> word = parse_dependency(type + ":" + job);
      if (!word.is_ok()) return refuse(word.status().message());
      spec.depends_on.push_back(format_dependency(word.value()));
    }
  }
  return ok();
}

Status set_times(const ParsedWords& words, UnixTime now, JobSpec& spec) {
  if (const GivenOption* given = words.find("time")) {
    const Result<Duration> limit = parse_time_limit(given->value);
    if (!limit.is_ok()) return option_error(*given, limit.status().message());
    spec.timeout = limit.value();
  }
  if (const GivenOption* given = words.find("begin")) {
    const Result<UnixTime> time = parse_begin_time(given->value, now);
    if (!time.is_ok()) return option_error(*given, time.status().message());
    if (time.value() > now) spec.begin_at = time.value();
  }
  return ok();
}

// [{R|B}:]SIGNAL[@SECONDS]
Status set_signal(const ParsedWords& words, MappedJob& job) {
  const GivenOption* given = words.find("signal");
  if (given == nullptr) return ok();
  std::string_view text = given->value;
  if (text.starts_with("R")) return option_error(*given, "hai has no reservations");
  if (text.starts_with("B:")) {
    job.plan.signal_script = true;
    text.remove_prefix(2);
  }
  const size_t at = text.find('@');
  const Result<int> signal = parse_signal(text.substr(0, at));
  if (!signal.is_ok()) return option_error(*given, signal.status().message());
  job.plan.signal = signal.value();
  job.spec.suspend.signal = signal_name(signal.value());
  job.spec.suspend.grace = 60s;  // as in Slurm
  job.plan.time_limit_seconds = job.spec.timeout / 1s;
  if (at != std::string_view::npos) {
    const GivenOption seconds = {given->option, std::string(text.substr(at + 1)), given->where};
    const Result<int> count = parse_count(seconds, 1, 3'600);
    RETURN_IF_ERROR(count.status());
    job.spec.suspend.grace = count.value() * Duration(1s);
    job.plan.signal_seconds = count.value();
  }
  return ok();
}

Status set_group(const ParsedWords& words, MappedJob& job) {
  if (const GivenOption* given = words.find("partition")) {
    const std::string& text = given->value;
    if (text.find(',') != std::string::npos) {
      return option_error(*given, fmt::format("'{}': name one node group", text.substr(0, 64)));
    }
    const size_t hash = text.find('#');
    job.spec.group = text.substr(0, hash);
    job.spec.zone = hash == std::string::npos ? "" : text.substr(hash + 1);
    if (hash != std::string::npos && job.spec.zone.empty()) {
      return option_error(*given, "the zone after the # is missing");
    }
  }
  job.plan.partition = job.spec.group;
  if (const GivenOption* given = words.find("switches")) {
    const GivenOption count = {given->option, given->value.substr(0, given->value.find('@')),
                               given->where};
    const Result<int> leaves = parse_count(count, 1, 100'000);
    RETURN_IF_ERROR(leaves.status());
    job.spec.max_leaves = leaves.value();
  }
  return ok();
}

Status set_output(const ParsedWords& words, JobPlan& plan) {
  plan.output = words.value_of("output");
  plan.error = words.value_of("error");
  if (const GivenOption* given = words.find("open-mode")) {
    if (given->value != "append" && given->value != "truncate") {
      return option_error(*given, "must be append or truncate");
    }
    plan.append = given->value == "append";
  }
  return ok();
}

Status set_place(const ParsedWords& words, const Surroundings& here, MappedJob& job) {
  const std::string directory = words.value_of("chdir");
  job.spec.workspace = directory.empty()            ? here.directory
                       : directory.starts_with('/') ? directory
                                                    : here.directory + "/" + directory;
  job.spec.entrypoint = here.runner;
  job.spec.parameters = "--run-job";
  job.spec.env_style = EnvStyle::slurm;
  job.plan.submit_dir = here.directory;
  job.plan.submit_host = here.host;
  const GivenOption* given = words.find("export");
  Result<EnvironmentMap> environment =
      exported(given == nullptr ? "ALL" : given->value, here.environment);
  if (!environment.is_ok()) return option_error(*given, environment.status().message());
  const EnvironmentMap functions = take_functions(environment.value());
  job.functions_text = format_functions(functions, job.warnings);
  job.spec.environments = std::move(environment.value());
  return ok();
}

// Where programs and libraries are is for the image to say, unless --export names the variable.
void leave_to_image(const ParsedWords& words, EnvironmentMap& environment) {
  const std::vector<std::string> named = parts_of(words.value_of("export"), ',');
  for (const char* name :
       {"PATH", "MANPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "CPATH", "PYTHONPATH",
        "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"}) {
    const bool is_named = std::any_of(named.begin(), named.end(), [name](const std::string& item) {
      return item.substr(0, item.find('=')) == name;
    });
    if (!is_named) environment.erase(name);
  }
}

// Script and tasks run in the image, and with them the program that starts them.
Status set_container(const ParsedWords& words, const Surroundings& here, MappedJob& job) {
  Result<Container> asked = container_of(words, here.directory);
  RETURN_IF_ERROR(asked.status());
  Container& container = asked.value();
  for (const char* name : {"container-mounts", "container-workdir"}) {
    const GivenOption* given = words.find(name);
    if (given != nullptr && container.image.empty())
      return option_error(*given, "is for jobs with --container-image");
  }
  if (container.image.empty()) return ok();
  leave_to_image(words, job.spec.environments);
  job.spec.entrypoint = here.runner_in_image;
  job.spec.image = job.plan.container_image = std::move(container.image);
  job.spec.program.mounts = job.plan.container_mounts = std::move(container.mounts);
  job.plan.container_directory = std::move(container.directory);
  return ok();
}

}  // namespace

Status check_spec(const JobSpec& spec) {
  for (const SpecError& error : check_job_spec(spec)) {
    const bool is_environment = error.path.starts_with("spec.environments");
    return invalid_argument("{}{}", to_string(error),
                            is_environment ? "; say with --export what the job needs" : "");
  }
  return ok();
}

std::string job_name(std::string_view wanted) {
  std::string name;
  for (const char c : wanted.substr(0, 200)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
    name += is_plain ? c : '-';
  }
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? "job" + (name.empty() ? "" : "-" + name) : name;
}

Result<MappedJob> map_job(const ParsedWords& words, const std::string& default_name,
                          const Surroundings& here) {
  MappedJob job;
  job.warnings = words.warnings();
  const std::string wanted = words.value_of("job-name");
  job.plan.name = wanted.empty() ? default_name : wanted;
  job.spec.name = job_name(job.plan.name);
  RETURN_IF_ERROR(set_group(words, job));
  RETURN_IF_ERROR(set_resources(words, job));
  RETURN_IF_ERROR(set_priority(words, job.spec));
  RETURN_IF_ERROR(set_dependencies(words, job.spec));
  RETURN_IF_ERROR(set_times(words, here.now, job.spec));
  RETURN_IF_ERROR(set_signal(words, job));
  RETURN_IF_ERROR(set_output(words, job.plan));
  RETURN_IF_ERROR(set_place(words, here, job));
  RETURN_IF_ERROR(set_container(words, here, job));
  if (const GivenOption* given = words.find("array")) {
    const Result<ArrayRange> range = ArrayRange::parse(given->value);
    if (!range.is_ok()) return option_error(*given, range.status().message());
    job.spec.array = given->value;
  }
  job.is_held = words.has("hold");
  job.plan.label = words.has("label");
  job.plan.mpi = wants_pmix(words);
  job.plan.kill_on_bad_exit = kills_on_bad_exit(words);
  if (words.has("quiet")) job.warnings.clear();
  // Whatever was not judged above, e.g. a node group's characters.
  RETURN_IF_ERROR(check_spec(job.spec));
  return job;
}

}  // namespace hai::cli::slurm
