#include "cli/slurm/input_variables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/slurm/console.h"

namespace hai::cli::slurm {
namespace {

constexpr std::string_view kTimesAreFixed = "times are written as 2026-11-20T08:00:00";

constexpr auto kSbatchVariables = std::to_array<InputVariable>({
    {"SBATCH_ACCOUNT", "account"},
    {"SBATCH_ACCTG_FREQ", "acctg-freq"},
    {"SBATCH_ARRAY_INX", "array"},
    {"SBATCH_BATCH", "batch"},
    {"SBATCH_CLUSTERS", "clusters"},
    {"SBATCH_CONSTRAINT", "constraint"},
    {"SBATCH_CONTAINER", "container"},
    {"SBATCH_CORE_SPEC", "core-spec"},
    {"SBATCH_CPUS_PER_GPU", "cpus-per-gpu"},
    {"SBATCH_DEBUG", "verbose"},
    {"SBATCH_DELAY_BOOT", "delay-boot"},
    {"SBATCH_DISTRIBUTION", "distribution"},
    {"SBATCH_ERROR", "error"},
    {"SBATCH_EXCLUSIVE", "exclusive"},
    {"SBATCH_EXPORT", "export"},
    {"SBATCH_GET_USER_ENV", "get-user-env"},
    {"SBATCH_GPUS", "gpus"},
    {"SBATCH_GPUS_PER_NODE", "gpus-per-node"},
    {"SBATCH_GPUS_PER_TASK", "gpus-per-task"},
    {"SBATCH_GPU_BIND", "gpu-bind"},
    {"SBATCH_GPU_FREQ", "gpu-freq"},
    {"SBATCH_GRES", "gres"},
    {"SBATCH_GRES_FLAGS", "gres-flags"},
    {"SBATCH_HINT", "hint"},
    {"SBATCH_IGNORE_PBS", "ignore-pbs"},
    {"SBATCH_INPUT", "input"},
    {"SBATCH_JOB_NAME", "job-name"},
    {"SBATCH_MEM_BIND", "mem-bind"},
    {"SBATCH_MEM_PER_CPU", "mem-per-cpu"},
    {"SBATCH_MEM_PER_GPU", "mem-per-gpu"},
    {"SBATCH_MEM_PER_NODE", "mem"},
    {"SBATCH_NETWORK", "network"},
    {"SBATCH_NO_KILL", "no-kill"},
    {"SBATCH_NO_REQUEUE", "no-requeue"},
    {"SBATCH_OPEN_MODE", "open-mode"},
    {"SBATCH_OUTPUT", "output"},
    {"SBATCH_OVERCOMMIT", "overcommit"},
    {"SBATCH_PARTITION", "partition"},
    {"SBATCH_POWER", "power"},
    {"SBATCH_PROFILE", "profile"},
    {"SBATCH_QOS", "qos"},
    {"SBATCH_REQUEUE", "requeue"},
    {"SBATCH_REQ_SWITCH", "switches"},
    {"SBATCH_RESERVATION", "reservation"},
    {"SBATCH_SIGNAL", "signal"},
    {"SBATCH_SPREAD_JOB", "spread-job"},
    {"SBATCH_THREADS_PER_CORE", "threads-per-core"},
    {"SBATCH_THREAD_SPEC", "thread-spec"},
    {"SBATCH_TIMELIMIT", "time"},
    {"SBATCH_USE_MIN_NODES", "use-min-nodes"},
    {"SBATCH_WAIT", "wait"},
    {"SBATCH_WAIT_ALL_NODES", "wait-all-nodes"},
    {"SBATCH_WCKEY", "wckey"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SLURM_HINT", "hint"},
});

constexpr auto kSrunVariables = std::to_array<InputVariable>({
    {"SLURM_ACCOUNT", "account", false},
    {"SLURM_ACCTG_FREQ", "acctg-freq", false},
    {"SLURM_BCAST", "bcast"},
    {"SLURM_CLUSTERS", "clusters", false},
    {"SLURM_CONSTRAINT", "constraint", false},
    {"SLURM_CORE_SPEC", "core-spec", false},
    {"SLURM_CPUS_PER_GPU", "cpus-per-gpu", false},
    {"SLURM_CPU_BIND", "cpu-bind"},
    {"SLURM_CPU_FREQ_REQ", "cpu-freq"},
    {"SLURM_DEBUG", "verbose"},
    {"SLURM_DELAY_BOOT", "delay-boot", false},
    {"SLURM_DEPENDENCY", "dependency", false},
    {"SLURM_DISABLE_STATUS", "disable-status"},
    {"SLURM_DISTRIBUTION", "distribution"},
    {"SLURM_EPILOG", "epilog"},
    {"SLURM_EXACT", "exact"},
    {"SLURM_EXCLUSIVE", "exclusive"},
    {"SLURM_EXPORT_ENV", "export"},
    {"SLURM_GPUS", "gpus", false},
    {"SLURM_GPUS_PER_NODE", "gpus-per-node", false},
    {"SLURM_GPUS_PER_TASK", "gpus-per-task", false},
    {"SLURM_GPU_BIND", "gpu-bind"},
    {"SLURM_GPU_FREQ", "gpu-freq"},
    {"SLURM_GRES", "gres", false},
    {"SLURM_GRES_FLAGS", "gres-flags"},
    {"SLURM_HINT", "hint"},
    {"SLURM_IMMEDIATE", "immediate"},
    {"SLURM_JOB_NAME", "job-name", false},
    {"SLURM_JOB_NUM_NODES", "nodes", false},
    {"SLURM_KILL_BAD_EXIT", "kill-on-bad-exit"},
    {"SLURM_LABELIO", "label"},
    {"SLURM_MEM_BIND", "mem-bind"},
    {"SLURM_MEM_PER_CPU", "mem-per-cpu", false},
    {"SLURM_MEM_PER_GPU", "mem-per-gpu", false},
    {"SLURM_MEM_PER_NODE", "mem", false},
    {"SLURM_MPI_TYPE", "mpi"},
    {"SLURM_NETWORK", "network"},
    {"SLURM_NNODES", "nodes", false},
    {"SLURM_NO_KILL", "no-kill", false},
    {"SLURM_NPROCS", "ntasks", false},
    {"SLURM_NTASKS", "ntasks", false},
    {"SLURM_NTASKS_PER_CORE", "ntasks-per-core", false},
    {"SLURM_NTASKS_PER_GPU", "ntasks-per-gpu", false},
    {"SLURM_NTASKS_PER_NODE", "ntasks-per-node", false},
    {"SLURM_NTASKS_PER_SOCKET", "ntasks-per-socket", false},
    {"SLURM_OPEN_MODE", "open-mode"},
    {"SLURM_OVERCOMMIT", "overcommit"},
    {"SLURM_OVERLAP", "overlap"},
    {"SLURM_PARTITION", "partition", false},
    {"SLURM_POWER", "power", false},
    {"SLURM_PROFILE", "profile"},
    {"SLURM_PROLOG", "prolog"},
    {"SLURM_QOS", "qos", false},
    {"SLURM_REMOTE_CWD", "chdir"},
    {"SLURM_REQ_SWITCH", "switches", false},
    {"SLURM_RESERVATION", "reservation", false},
    {"SLURM_SIGNAL", "signal", false},
    {"SLURM_SPREAD_JOB", "spread-job", false},
    {"SLURM_STDERRMODE", "error"},
    {"SLURM_STDINMODE", "input"},
    {"SLURM_STDOUTMODE", "output"},
    {"SLURM_TASK_EPILOG", "task-epilog"},
    {"SLURM_TASK_PROLOG", "task-prolog"},
    {"SLURM_THREADS", "threads"},
    {"SLURM_THREADS_PER_CORE", "threads-per-core"},
    {"SLURM_THREAD_SPEC", "thread-spec", false},
    {"SLURM_TIMELIMIT", "time", false},
    {"SLURM_UNBUFFEREDIO", "unbuffered"},
    {"SLURM_USE_MIN_NODES", "use-min-nodes", false},
    {"SLURM_WAIT", "wait"},
    {"SLURM_WCKEY", "wckey", false},
    {"SLURM_WORKING_DIR", "chdir"},
    {"SRUN_CPUS_PER_TASK", "cpus-per-task"},
    {"SRUN_EXPORT_ENV", "export"},
});

constexpr auto kSqueueVariables = std::to_array<InputVariable>({
    {"SLURM_CLUSTERS", "clusters"},
    {"SLURM_TIME_FORMAT", "", true, kTimesAreFixed},
    {"SQUEUE_ACCOUNT", "account"},
    {"SQUEUE_ALL", "all"},
    {"SQUEUE_ARRAY", "array"},
    {"SQUEUE_FORMAT", "format"},
    {"SQUEUE_FORMAT2", "Format"},
    {"SQUEUE_NAMES", "name"},
    {"SQUEUE_PARTITION", "partition"},
    {"SQUEUE_PRIORITY", "priority"},
    {"SQUEUE_QOS", "qos"},
    {"SQUEUE_SORT", "sort"},
    {"SQUEUE_STATES", "states"},
    {"SQUEUE_USERS", "user"},
});

constexpr auto kSallocVariables = std::to_array<InputVariable>({
    {"SALLOC_ACCOUNT", "account"},
    {"SALLOC_ACCTG_FREQ", "acctg-freq"},
    {"SALLOC_BELL", "bell"},
    {"SALLOC_CLUSTERS", "clusters"},
    {"SALLOC_CONSTRAINT", "constraint"},
    {"SALLOC_CONTAINER", "container"},
    {"SALLOC_CORE_SPEC", "core-spec"},
    {"SALLOC_CPUS_PER_GPU", "cpus-per-gpu"},
    {"SALLOC_DEBUG", "verbose"},
    {"SALLOC_DELAY_BOOT", "delay-boot"},
    {"SALLOC_EXCLUSIVE", "exclusive"},
    {"SALLOC_GPUS", "gpus"},
    {"SALLOC_GPUS_PER_NODE", "gpus-per-node"},
    {"SALLOC_GPUS_PER_TASK", "gpus-per-task"},
    {"SALLOC_GPU_BIND", "gpu-bind"},
    {"SALLOC_GPU_FREQ", "gpu-freq"},
    {"SALLOC_GRES", "gres"},
    {"SALLOC_GRES_FLAGS", "gres-flags"},
    {"SALLOC_HINT", "hint"},
    {"SALLOC_IMMEDIATE", "immediate"},
    {"SALLOC_KILL_CMD", "kill-command"},
    {"SALLOC_MEM_BIND", "mem-bind"},
    {"SALLOC_MEM_PER_CPU", "mem-per-cpu"},
    {"SALLOC_MEM_PER_GPU", "mem-per-gpu"},
    {"SALLOC_MEM_PER_NODE", "mem"},
    {"SALLOC_NETWORK", "network"},
    {"SALLOC_NO_BELL", "no-bell"},
    {"SALLOC_NO_KILL", "no-kill"},
    {"SALLOC_OVERCOMMIT", "overcommit"},
    {"SALLOC_PARTITION", "partition"},
    {"SALLOC_POWER", "power"},
    {"SALLOC_PROFILE", "profile"},
    {"SALLOC_QOS", "qos"},
    {"SALLOC_REQ_SWITCH", "switches"},
    {"SALLOC_RESERVATION", "reservation"},
    {"SALLOC_SIGNAL", "signal"},
    {"SALLOC_SPREAD_JOB", "spread-job"},
    {"SALLOC_THREAD_SPEC", "thread-spec"},
    {"SALLOC_THREADS_PER_CORE", "threads-per-core"},
    {"SALLOC_TIMELIMIT", "time"},
    {"SALLOC_USE_MIN_NODES", "use-min-nodes"},
    {"SALLOC_WAIT_ALL_NODES", "wait-all-nodes"},
    {"SALLOC_WCKEY", "wckey"},
});

constexpr auto kScancelVariables = std::to_array<InputVariable>({
    {"SCANCEL_ACCOUNT", "account"},
    {"SCANCEL_BATCH", "batch"},
    {"SCANCEL_CTLD", "ctld"},
    {"SCANCEL_FULL", "full"},
    {"SCANCEL_HURRY", "hurry"},
    {"SCANCEL_INTERACTIVE", "interactive"},
    {"SCANCEL_NAME", "name"},
    {"SCANCEL_PARTITION", "partition"},
    {"SCANCEL_QOS", "qos"},
    {"SCANCEL_STATE", "state"},
    {"SCANCEL_USER", "user"},
    {"SCANCEL_VERBOSE", "verbose"},
    {"SCANCEL_WCKEY", "wckey"},
    {"SLURM_CLUSTERS", "clusters"},
});

constexpr auto kSinfoVariables = std::to_array<InputVariable>({
    {"SINFO_ALL", "all"},
    {"SINFO_FORMAT", "format"},
    {"SINFO_FORMAT2", "Format"},
    {"SINFO_PARTITION", "partition"},
    {"SINFO_SORT", "sort"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SLURM_TIME_FORMAT", "", true, kTimesAreFixed},
});

constexpr auto kScontrolVariables = std::to_array<InputVariable>({
    {"SCONTROL_ALL", "all"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SLURM_TIME_FORMAT", "", true, kTimesAreFixed},
});

constexpr auto kSacctVariables = std::to_array<InputVariable>({
    {"SACCT_FORMAT", "format"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SLURM_TIME_FORMAT", "", true, kTimesAreFixed},
});

// Whether a flag is given by this value; nothing if it says neither.
std::optional<bool> flag_value(std::string_view value) {
  constexpr std::string_view kYes[] = {"", "1", "yes", "true", "y", "set"};
  constexpr std::string_view kNo[] = {"0", "no", "false", "n"};
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (std::find(std::begin(kYes), std::end(kYes), lower) != std::end(kYes)) return true;
  if (std::find(std::begin(kNo), std::end(kNo), lower) != std::end(kNo)) return false;
  return std::nullopt;
}

// The word of a command line that says the same; nothing if the variable says nothing.
Result<std::optional<std::string>> word_of(const InputVariable& variable, const Option& option,
                                           const std::string& value) {
  const std::string name = fmt::format("--{}", variable.option);
  if (option.argument == Argument::none) {
    const std::optional<bool> is_given = flag_value(value);
    if (!is_given) {
      return invalid_argument("{}: '{}' must be yes or no", variable.name, value.substr(0, 64));
    }
    return *is_given ? std::optional(name) : std::nullopt;
  }
  if (value.empty() && option.argument == Argument::required) return std::optional<std::string>{};
  return std::optional(value.empty() ? name : name + "=" + value);
}

// Such a command goes on without what it does not understand of a variable, which was set for
// Slurm's own. What is submitted or cancelled must not be another than was said.
bool only_shows(Command command) {
  return command == Command::squeue || command == Command::sinfo || command == Command::sacct ||
         command == Command::scontrol;
}

// What the variable says; nothing if that is nothing.
Result<ParsedWords> words_of(Command command, const InputVariable& variable,
                             const std::string& value) {
  const Option* option = find_option(command, variable.option);
  CHECK(option != nullptr);  // a test goes through the tables
  const auto word = word_of(variable, *option, value);
  RETURN_IF_ERROR(word.status());
  if (!word.value()) return ParsedWords{};
  return parse_words(command, {*word.value()}, fmt::format("{}: ", variable.name));
}

}  // namespace

std::span<const InputVariable> input_variables(Command command) {
  switch (command) {
    case Command::sbatch:
      return kSbatchVariables;
    case Command::srun:
      return kSrunVariables;
    case Command::salloc:
      return kSallocVariables;
    case Command::squeue:
      return kSqueueVariables;
    case Command::scancel:
      return kScancelVariables;
    case Command::sinfo:
      return kSinfoVariables;
    case Command::scontrol:
      return kScontrolVariables;
    case Command::sacct:
      return kSacctVariables;
  }
  return {};
}

Result<EnvironmentOptions> environment_options(Command command, const ReadVariable& read,
                                               bool in_job) {
  EnvironmentOptions found;
  for (const InputVariable& variable : input_variables(command)) {
    if (in_job && !variable.in_job) continue;
    const std::optional<std::string> value = read(std::string(variable.name));
    if (!value) continue;
    if (variable.option.empty()) {
      if (!value->empty() && *value != "standard") {
        found.warnings.push_back(
            fmt::format("{} has no effect: {}", variable.name, variable.warning));
      }
      continue;
    }
    const Result<ParsedWords> parsed = words_of(command, variable, *value);
    if (!parsed.is_ok() && only_shows(command)) {
      found.warnings.push_back(parsed.status().message() + "; it is ignored");
      continue;
    }
    RETURN_IF_ERROR(parsed.status());
    found.words.options.insert(found.words.options.end(), parsed.value().options.begin(),
                               parsed.value().options.end());
  }
  return found;
}

std::optional<std::string> own_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<ParsedWords> parse_with_environment(Command command, const std::vector<std::string>& words,
                                           bool in_job) {
  Result<ParsedWords> parsed = parse_words(command, words);
  if (!parsed.is_ok() || parsed.value().has("help") || parsed.value().has("version")) return parsed;
  Result<EnvironmentOptions> environment = environment_options(command, own_variable, in_job);
  RETURN_IF_ERROR(environment.status());
  for (const std::string& line : environment.value().warnings) tell(command, line);
  environment.value().words.operands = std::move(parsed.value().operands);
  std::vector<GivenOption>& options = environment.value().words.options;
  options.insert(options.end(), parsed.value().options.begin(), parsed.value().options.end());
  if (!submits_jobs(command)) {  // else they are told with what else is to be said of the job
    for (const std::string& line : environment.value().words.warnings()) tell(command, line);
  }
  return std::move(environment.value().words);
}

}  // namespace hai::cli::slurm
