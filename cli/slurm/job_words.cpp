#include "cli/slurm/job_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/job_view.h"
#include "cli/slurm/slurm_time.h"
#include "common/array_range.h"
#include "common/hostlist.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {
namespace {

constexpr auto kStates = std::to_array<StateWord>({{"PD", "PENDING"},
                                                   {"CF", "CONFIGURING"},
                                                   {"R", "RUNNING"},
                                                   {"S", "SUSPENDED"},
                                                   {"CG", "COMPLETING"},
                                                   {"CD", "COMPLETED"},
                                                   {"F", "FAILED"},
                                                   {"TO", "TIMEOUT"},
                                                   {"NF", "NODE_FAIL"},
                                                   {"CA", "CANCELLED"}});

StateWord word(std::string_view code) {
  return *std::find_if(kStates.begin(), kStates.end(),
                       [&](const StateWord& state) { return state.code == code; });
}

struct ReasonWord {
  std::string_view code;  // of hai
  std::string_view slurm;
};
constexpr auto kReasons =
    std::to_array<ReasonWord>({{"held", "JobHeldUser"},
                               {"begin_time", "BeginTime"},
                               {"backoff", "BeginTime"},
                               {"dependency", "Dependency"},
                               {"dependency_failed", "DependencyNeverSatisfied"},
                               {"user_inactive", "InvalidAccount"},
                               {"quota", "QOSGrpNodeLimit"},
                               {"resources", "Resources"},
                               {"preempting", "Resources"},
                               {"starting", "Prolog"},
                               {"recovering", "ReqNodeNotAvail"},
                               {"array", "JobArrayTaskLimit"},
                               {"not_considered", "None"}});

std::string time_or(int64_t micros, bool is_there, std::string_view otherwise) {
  return is_there ? format_clock_time(micros) : std::string(otherwise);
}

std::string node_list(const v1::Job& job) {
  return format_hostlist({job.nodes().begin(), job.nodes().end()});
}

int priority_number(const v1::Job& job) {
  const Result<Priority> priority = parse_priority(job.priority());
  return priority.is_ok() ? static_cast<int>(priority.value()) : 0;
}

std::string gpus_text(const v1::Job& job) {
  if (job.gpus_per_node() == kNoGpus) return "N/A";
  return job.gpus_per_node() == 0 ? "gpu" : fmt::format("gpu:{}", job.gpus_per_node());
}

// In all. What the server gives in proportion to the GPUs is not in the job.
std::string cpus_text(const v1::Job& job) {
  const int64_t per_node = job.spec().cpus_per_node();
  return per_node == 0 ? "N/A" : std::to_string(per_node * job.node_count());
}

// On each node.
std::string memory_text(const v1::Job& job) {
  const int64_t bytes = job.spec().memory_per_node_bytes();
  return bytes == 0 ? "0" : fmt::format("{}M", bytes >> 20);
}

std::string limit_text(const v1::Job& job) {
  if (!job.has_spec()) return "N/A";
  const int64_t micros = job.spec().timeout_us();
  return micros == 0 ? "UNLIMITED" : format_elapsed(Duration(micros));
}

std::string time_left(const v1::Job& job, UnixTime now) {
  if (!job.has_spec()) return "N/A";
  const int64_t micros = job.spec().timeout_us();
  if (micros == 0) return "UNLIMITED";
  const Duration used =
      job.has_running_at_us() ? now - unix_micros(job.running_at_us()) : Duration(0);
  return format_elapsed(Duration(micros) - used);  // of one attempt, as the server counts
}

// "afterok:7,afterany:prep"
std::string dependency_text(const v1::JobSpec& spec) {
  std::string text;
  for (const std::string& word : spec.depends_on()) {
    const bool is_bare = word.find(':') == std::string::npos && word != "singleton";
    text += (text.empty() ? "" : ",") + (is_bare ? "afterok:" + word : word);
  }
  return text.empty() ? "(null)" : text;
}

}  // namespace

StateWord state_of(const v1::Job& job) {
  const std::string& state = job.state();
  const std::string& attempt = job.attempt_state();
  if (state == "running") {
    if (attempt == "suspending") return word("CG");
    return word(attempt == "placed" || attempt == "starting" ? "CF" : "R");
  }
  if (state == "suspended") return word("S");
  if (state == "succeeded") return word("CD");
  if (state == "stopped") return word("CA");
  if (state == "failed") {
    // hai runs a job again when its node fails; so only the time limit stands apart.
    return word(job.end_reason().find("longer than its timeout") != std::string::npos ? "TO" : "F");
  }
  return word("PD");
}

size_t state_order(const v1::Job& job) {
  const std::string_view code = state_of(job).code;
  const auto found = std::find_if(kStates.begin(), kStates.end(),
                                  [&](const StateWord& state) { return state.code == code; });
  return static_cast<size_t>(found - kStates.begin());
}

Result<std::vector<std::string>> parse_states(std::string_view text) {
  std::vector<std::string> codes;
  for (;;) {
    const size_t comma = text.find(',');
    std::string item(text.substr(0, comma));
    std::transform(item.begin(), item.end(), item.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    if (item == "ALL") return std::vector<std::string>{};
    const auto found = std::find_if(kStates.begin(), kStates.end(), [&](const StateWord& state) {
      return item == state.code || item == state.name;
    });
    if (found == kStates.end()) {
      std::string known;
      for (const StateWord& state : kStates)
        known += fmt::format(" {} ({}),", state.code, state.name);
      known.pop_back();
      return invalid_argument("state '{}' is not known, only:{}", item.substr(0, 64), known);
    }
    codes.emplace_back(found->code);
    if (comma == std::string_view::npos) return codes;
    text.remove_prefix(comma + 1);
  }
}

std::string_view reason_word(const v1::Job& job) {
  if (is_held_by_somebody(job)) return "JobHeldUser";
  if (!job.has_pending_reason()) return "None";
  for (const ReasonWord& reason : kReasons) {
    if (reason.code == job.pending_reason().code()) return reason.slurm;
  }
  return "None";
}

std::string nodes_or_reason(const v1::Job& job) {
  return job.nodes_size() > 0 ? node_list(job) : fmt::format("({})", reason_word(job));
}

std::string gres_text(const v1::Job& job) {
  if (job.gpus_per_node() == kNoGpus) return "";
  return job.gpus_per_node() == 0 ? "gres/gpu" : fmt::format("gres/gpu:{}", job.gpus_per_node());
}

std::string array_id_text(const v1::Job& job) {
  if (job.has_array()) {
    const Result<ArrayRange> range = ArrayRange::parse(job.array().range());
    if (!range.is_ok() || job.array().to_come().empty()) return std::to_string(job.id());
    const int limit = range.value().limit();
    return fmt::format("{}_[{}{}]", job.id(), job.array().to_come(),
                       limit > 0 ? fmt::format("%{}", limit) : "");
  }
  if (!job.has_array_task()) return std::to_string(job.id());
  return fmt::format("{}_{}", job.array_task().array(), job.array_task().index());
}

const std::vector<KnownLetter>& job_letters() {
  static const std::vector<KnownLetter> kLetters = {{'a', "ACCOUNT"},
                                                    {'A', "JOBID"},
                                                    {'b', "TRES_PER_NODE"},
                                                    {'B', "EXEC_HOST"},
                                                    {'C', "CPUS"},
                                                    {'D', "NODES"},
                                                    {'e', "END_TIME"},
                                                    {'E', "DEPENDENCY"},
                                                    {'f', "FEATURES"},
                                                    {'F', "ARRAY_JOB_ID"},
                                                    {'h', "OVER_SUBSCRIBE"},
                                                    {'i', "JOBID"},
                                                    {'j', "NAME"},
                                                    {'k', "COMMENT"},
                                                    {'l', "TIME_LIMIT"},
                                                    {'K', "ARRAY_TASK_ID"},
                                                    {'L', "TIME_LEFT"},
                                                    {'m', "MIN_MEMORY"},
                                                    {'M', "TIME"},
                                                    {'n', "REQ_NODES"},
                                                    {'N', "NODELIST"},
                                                    {'o', "COMMAND"},
                                                    {'p', "PRIORITY"},
                                                    {'P', "PARTITION"},
                                                    {'q', "QOS"},
                                                    {'Q', "PRIORITY"},
                                                    {'r', "REASON"},
                                                    {'R', "NODELIST(REASON)"},
                                                    {'S', "START_TIME"},
                                                    {'t', "ST"},
                                                    {'T', "STATE"},
                                                    {'u', "USER"},
                                                    {'v', "RESERVATION"},
                                                    {'V', "SUBMIT_TIME"},
                                                    {'y', "NICE"},
                                                    {'Z', "WORK_DIR"}};
  return kLetters;
}

std::string job_value(const v1::Job& job, char letter, UnixTime now) {
  switch (letter) {
    case 'A':
      return std::to_string(job.id());
    case 'F':
      return std::to_string(job.has_array_task() ? job.array_task().array() : job.id());
    case 'i':
      return array_id_text(job);
    case 'K':
      return job.has_array_task() ? std::to_string(job.array_task().index()) : "N/A";
    case 'b':
      return gpus_text(job);
    case 'B':
      return job.nodes_size() > 0 ? job.nodes(0) : "n/a";
    case 'C':
      return cpus_text(job);
    case 'D':
      return std::to_string(job.node_count());
    case 'e':
      return time_or(job.ended_at_us(), job.has_ended_at_us(), "N/A");
    case 'E':
      if (!job.has_spec()) return "N/A";
      return dependency_text(job.spec());
    case 'h':
      return job.gpus_per_node() == 0 ? "NO" : "YES";
    case 'j':
      return job.name();
    case 'l':
      return limit_text(job);
    case 'L':
      return time_left(job, now);
    case 'm':
      return memory_text(job);
    case 'M':
      return format_elapsed(time_run(job, now));
    case 'N':
      return node_list(job);
    case 'o':
      return job.entrypoint().empty() ? "(null)" : job.entrypoint();  // that of others is hidden
    case 'p':
    case 'Q':
      return std::to_string(priority_number(job));
    case 'P':
      return job.group();
    case 'q':
      return job.priority();
    case 'r':
      return std::string(reason_word(job));
    case 'R':
      return nodes_or_reason(job);
    case 'S':
      return time_or(job.started_at_us(), job.has_started_at_us(), "N/A");
    case 't':
      return std::string(state_of(job).code);
    case 'T':
      return std::string(state_of(job).name);
    case 'u':
      return job.user();
    case 'V':
      return format_clock_time(job.submitted_at_us());
    case 'y':
      return "0";
    case 'Z':
      return job.workspace().empty() ? "(null)" : job.workspace();
    default:  // accounts, comments, reservations: hai has none
      return "(null)";
  }
}

}  // namespace hai::cli::slurm
