#include "cli/slurm/job_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/job_view.h"
#include "cli/slurm/slurm_time.h"
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
                               {"dependency", "Dependency"},
                               {"dependency_failed", "DependencyNeverSatisfied"},
                               {"user_inactive", "InvalidAccount"},
                               {"quota", "QOSGrpNodeLimit"},
                               {"resources", "Resources"},
                               {"preempting", "Resources"},
                               {"starting", "Prolog"},
                               {"recovering", "ReqNodeNotAvail"},
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

std::string exit_text(const v1::Job& job) {
  const int code = job.has_exit_code() ? job.exit_code() : 0;
  return code > 128 ? fmt::format("0:{}", code - 128) : fmt::format("{}:0", code);
}

std::string gpus_text(const v1::Job& job) {
  return job.gpus_per_node() == 0 ? "gpu" : fmt::format("gpu:{}", job.gpus_per_node());
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
  if (job.held()) return "JobHeldUser";
  if (!job.has_pending_reason()) return "None";
  for (const ReasonWord& reason : kReasons) {
    if (reason.code == job.pending_reason().code()) return reason.slurm;
  }
  return "None";
}

std::string nodes_or_reason(const v1::Job& job) {
  return job.nodes_size() > 0 ? node_list(job) : fmt::format("({})", reason_word(job));
}

const std::vector<KnownLetter>& job_letters() {
  static const std::vector<KnownLetter> kLetters = {{'a', "ACCOUNT"},
                                                    {'A', "JOBID"},
                                                    {'b', "TRES_PER_NODE"},
                                                    {'B', "EXEC_HOST"},
                                                    {'D', "NODES"},
                                                    {'e', "END_TIME"},
                                                    {'E', "DEPENDENCY"},
                                                    {'F', "ARRAY_JOB_ID"},
                                                    {'h', "OVER_SUBSCRIBE"},
                                                    {'i', "JOBID"},
                                                    {'j', "NAME"},
                                                    {'k', "COMMENT"},
                                                    {'l', "TIME_LIMIT"},
                                                    {'L', "TIME_LEFT"},
                                                    {'M', "TIME"},
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
                                                    {'Z', "WORK_DIR"}};
  return kLetters;
}

std::string job_value(const v1::Job& job, char letter, UnixTime now) {
  switch (letter) {
    case 'A':
    case 'F':
    case 'i':
      return std::to_string(job.id());
    case 'b':
      return gpus_text(job);
    case 'B':
      return job.nodes_size() > 0 ? job.nodes(0) : "n/a";
    case 'D':
      return std::to_string(job.node_count());
    case 'e':
      return time_or(job.ended_at_us(), job.has_ended_at_us(), "N/A");
    case 'E':
      if (!job.has_spec()) return "N/A";
      return job.spec().depends_on_size() > 0
                 ? fmt::format("afterok:{}", fmt::join(job.spec().depends_on(), ":"))
                 : "(null)";
    case 'h':
      return job.gpus_per_node() == 0 ? "NO" : "YES";
    case 'j':
      return job.name();
    case 'l':
      return limit_text(job);
    case 'L':
      return time_left(job, now);
    case 'M':
      return format_elapsed(time_run(job, now));
    case 'N':
      return node_list(job);
    case 'o':
      return job.entrypoint();
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
    case 'Z':
      return job.workspace();
    default:  // accounts, comments, reservations: hai has none
      return "(null)";
  }
}

std::string describe_job(const v1::Job& job, UnixTime now, bool one_line) {
  const auto value = [&](char letter) { return job_value(job, letter, now); };
  const std::string gap = one_line ? " " : "\n   ";
  std::string text = fmt::format("JobId={} JobName={}", job.id(), job.name());
  text += gap + fmt::format("UserId={} Priority={} QOS={}", job.user(), value('Q'), job.priority());
  text +=
      gap + fmt::format("JobState={} Reason={} Dependency={}", value('T'), value('r'), value('E'));
  text += gap + fmt::format("Requeue=1 Restarts={} ExitCode={}", std::max(0, job.attempt() - 1),
                            exit_text(job));
  text += gap + fmt::format("RunTime={} TimeLimit={}", value('M'), value('l'));
  text += gap + fmt::format("SubmitTime={}", value('V'));
  text += gap + fmt::format("StartTime={} EndTime={}", value('S'), value('e'));
  const std::string nodes = node_list(job);
  text += gap + fmt::format("Partition={} NodeList={} BatchHost={}", job.group(),
                            nodes.empty() ? "(null)" : nodes, value('B'));
  text += gap + fmt::format("NumNodes={} TresPerNode={}", job.node_count(), value('b'));
  text += gap + fmt::format("Command={}", job.entrypoint());
  text += gap + fmt::format("WorkDir={}", job.workspace());
  if (job.has_pending_reason()) text += gap + "Comment=" + job.pending_reason().text();
  if (!job.end_reason().empty()) text += gap + "Comment=" + job.end_reason();
  return text + "\n" + (one_line ? "" : "\n");
}

}  // namespace hai::cli::slurm
