#include "cli/slurm/srun_inside.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "cli/exit_code.h"
#include "cli/raw_terminal.h"
#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/map_container.h"
#include "cli/slurm/mpi_option.h"
#include "cli/slurm/step/client.h"
#include "cli/slurm/step/task_environment.h"
#include "cli/slurm/surroundings.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kStep = Command::srun;

std::string text_of(const char* name) { return own_variable(name).value_or(""); }

// What its host says of the job (step/task_environment.cpp).
Container container_of_job() {
  Container job{.image = text_of(kContainerImageVariable), .mounts = {}, .directory = {}};
  const std::string mounts = text_of(kContainerMountsVariable);
  for (size_t begin = 0; begin < mounts.size();) {
    const size_t end = std::min(mounts.find(',', begin), mounts.size());
    job.mounts.push_back(mounts.substr(begin, end - begin));
    begin = end + 1;
  }
  return job;
}

// A job in an image has what is in it, and no PMIx server.
Status check_mpi_of_step(const ParsedWords& words, const Container& job) {
  if (!wants_pmix(words) || job.image.empty()) return ok();
  return option_error(*words.find("mpi"), "not in a container image: use mpirun");
}

// The options that a step heeds; all others that mean something are of jobs.
constexpr auto kOfSteps = std::to_array<std::string_view>({"chdir",
                                                           "container-image",
                                                           "container-mounts",
                                                           "container-workdir",
                                                           "cpus-per-task",
                                                           "error",
                                                           "exact",
                                                           "exclusive",
                                                           "export",
                                                           "gpus",
                                                           "gpus-per-node",
                                                           "gpus-per-task",
                                                           "gres",
                                                           "help",
                                                           "jobid",
                                                           "kill-on-bad-exit",
                                                           "label",
                                                           "mpi",
                                                           "nodelist",
                                                           "nodes",
                                                           "ntasks",
                                                           "ntasks-per-node",
                                                           "open-mode",
                                                           "output",
                                                           "overlap",
                                                           "pty",
                                                           "quiet",
                                                           "quit-on-interrupt",
                                                           "usage",
                                                           "version"});

std::string_view why_of_job(std::string_view option) {
  if (option == "time") return "a step may last as long as its job: use timeout SECONDS PROGRAM";
  if (option.starts_with("mem")) return "a step may use all of its job's memory";
  if (option == "signal") return "the job's signal goes to all of its steps";
  if (option == "job-name") return "a step has the name of its program";
  if (option == "cpus-per-gpu") return "say how many CPUs each task has with -c";
  return "it is for jobs, and srun in a script starts a step of one";
}

// The job's first rank does it.
int run_inside(const ParsedWords& words, const std::string& socket) {
  Result<StepRequest> request = step_of_options(words);
  if (!request.is_ok()) return usage_error(kStep, request.status().message());
  const Result<Surroundings> here = surroundings(UnixTime{});
  if (!here.is_ok()) return fail(kStep, here.status());
  const Result<Container> container = container_of(words, here.value().directory);
  if (!container.is_ok()) return usage_error(kStep, container.status().message());
  Status checked = check_container_of_step(words, container.value(), container_of_job());
  if (checked.is_ok()) checked = check_mpi_of_step(words, container_of_job());
  if (!checked.is_ok()) return usage_error(kStep, checked.message());
  const Result<std::vector<std::string>> warnings = step_warnings(words);
  if (!warnings.is_ok()) return usage_error(kStep, warnings.status().message());
  if (!words.has("quiet")) {
    for (const std::string& line : warnings.value()) tell(kStep, line);
  }
  StepRequest& step = request.value();
  if (step.terminal.is_wanted != 0) {
    const winsize window = window_size(STDIN_FILENO);
    step.terminal.rows = window.ws_row;
    step.terminal.columns = window.ws_col;
  }
  step.command = words.operands;
  if (!container.value().directory.empty()) step.directory = container.value().directory;
  if (step.directory.empty()) step.directory = here.value().directory;
  EnvironmentMap environment = here.value().environment;
  if (const GivenOption* given = words.find("export"); given != nullptr && given->value != "ALL") {
    const Result<EnvironmentMap> chosen = exported(given->value, environment);
    if (!chosen.is_ok())
      return usage_error(kStep, option_error(*given, chosen.status().message()).message());
    // What a program needs to be started at all, and what it knows of its job.
    std::erase_if(environment, [](const auto& entry) {
      return !entry.first.starts_with("SLURM") && entry.first != "PATH" && entry.first != "HOME" &&
             entry.first != "USER" && entry.first != kStepSocketVariable;
    });
    for (const auto& [name, value] : chosen.value()) environment[name] = value;
  }
  step.environment = texts_of(environment);
  const PatternValues values = {.job = text_of("SLURM_JOB_ID"),
                                .name = text_of("SLURM_JOB_NAME"),
                                .user = text_of("HAI_USER"),
                                .node = text_of("SLURMD_NODENAME"),
                                .array_job = text_of("SLURM_ARRAY_JOB_ID"),
                                .array_task = text_of("SLURM_ARRAY_TASK_ID")};
  return run_step(socket, step,
                  {.label = words.has("label"),
                   .output = words.value_of("output"),
                   .error = words.value_of("error"),
                   .append = words.value_of("open-mode") == "append",
                   .values = values});
}

}  // namespace

Result<std::vector<std::string>> step_warnings(const ParsedWords& words) {
  std::vector<std::string> lines = words.warnings();
  std::set<std::string_view> seen;
  for (const GivenOption& given : words.options) {
    const std::string_view name = given.option->name;
    if (given.option->treatment != Treatment::mapped ||
        std::ranges::find(kOfSteps, name) != kOfSteps.end()) {
      continue;
    }
    if (name == "exclude") return option_error(given, "of a step name the nodes it is for with -w");
    const bool asks_for_all = name == "mem" && given.value == "0";
    if (asks_for_all || !seen.insert(name).second) continue;
    lines.push_back(
        fmt::format("{}--{} has no effect in a job: {}", given.where, name, why_of_job(name)));
  }
  return lines;
}

Status check_srun_words(const ParsedWords& words) {
  if (words.operands.empty()) return invalid_argument("no command given to execute");
  return check_mpi(words);
}

int tell_mpi_list() {
  std::fputs(std::string(kMpiList).c_str(), stdout);
  return kOk;
}

int run_srun_inside(const std::vector<std::string>& words, const std::string& socket) {
  const Result<ParsedWords> parsed = parse_with_environment(kStep, words, true);
  if (!parsed.is_ok()) return usage_error(kStep, parsed.status().message());
  if (is_only_asking(kStep, parsed.value())) return kOk;
  if (asks_mpi_list(parsed.value())) return tell_mpi_list();
  const Status checked = check_srun_words(parsed.value());
  if (!checked.is_ok()) return usage_error(kStep, checked.message());
  if (const GivenOption* given = parsed.value().find("jobid")) {
    return usage_error(kStep, option_error(*given, given->option->text).message());
  }
  if (const GivenOption* given = parsed.value().find("pty");
      given != nullptr && ::isatty(STDIN_FILENO) == 0) {
    return usage_error(
        kStep, option_error(*given, "this is no terminal: leave it out to have the output here")
                   .message());
  }
  return run_inside(parsed.value(), socket);
}

}  // namespace hai::cli::slurm
