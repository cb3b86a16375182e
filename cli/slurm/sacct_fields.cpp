#include "cli/slurm/sacct_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/job_view.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/slurm_time.h"
#include "cli/table.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

struct KnownField {
  std::string_view title;
  int width;
  char letter;  // of squeue with the same value; 0 = none
};

constexpr auto kFields = std::to_array<KnownField>(
    {{"Account", 10, 'a'},  {"AllocCPUS", 10, 'C'},     {"AllocNodes", 10, 'D'},
     {"AllocTRES", 24, 0},  {"AveCPU", 10, 0},          {"AveRSS", 10, 0},
     {"Cluster", 10, 0},    {"Comment", 14, 0},         {"CPUTime", 10, 0},
     {"CPUTimeRAW", 10, 0}, {"DerivedExitCode", 15, 0}, {"Elapsed", 10, 0},
     {"ElapsedRaw", 10, 0}, {"Eligible", 19, 'V'},      {"End", 19, 0},
     {"ExitCode", 8, 0},    {"Group", 9, 'u'},          {"JobID", 12, 0},
     {"JobIDRaw", 12, 0},   {"JobName", 10, 0},         {"MaxRSS", 10, 0},
     {"MaxVMSize", 10, 0},  {"NCPUS", 10, 'C'},         {"NNodes", 8, 'D'},
     {"NodeList", 15, 0},   {"NTasks", 8, 0},           {"Partition", 10, 'P'},
     {"Priority", 10, 'Q'}, {"QOS", 10, 'q'},           {"QOSRAW", 10, 'q'},
     {"Reason", 22, 'r'},   {"ReqCPUS", 8, 'C'},        {"ReqMem", 10, 'm'},
     {"ReqNodes", 8, 'D'},  {"ReqTRES", 24, 0},         {"Restarts", 8, 0},
     {"Start", 19, 0},      {"State", 10, 'T'},         {"Submit", 19, 'V'},
     {"SystemCPU", 10, 0},  {"Timelimit", 10, 'l'},     {"TotalCPU", 10, 0},
     {"User", 9, 'u'},      {"UserCPU", 10, 0},         {"WorkDir", 20, 'Z'}});

// Empty for a step, as in Slurm: they are the job's.
constexpr std::string_view kOfJobsOnly[] = {"Partition", "User",     "Group",     "QOS",
                                            "QOSRAW",    "Priority", "Timelimit", "WorkDir",
                                            "ReqTRES",   "ReqMem",   "Reason"};

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

const KnownField* find_field(std::string_view title) {
  const auto found = std::find_if(kFields.begin(), kFields.end(), [&](const KnownField& field) {
    return is_same_word(field.title, title);
  });
  return found == kFields.end() ? nullptr : &*found;
}

// "1:0" for exit code 1, "0:9" for signal 9.
std::string recorded_exit_text(const v1::Job& job) {
  const int code = job.has_exit_code() ? job.exit_code() : 0;
  return code > 128 && code < 193 ? fmt::format("0:{}", code - 128) : fmt::format("{}:0", code);
}

int64_t elapsed_seconds(const v1::Job& job, UnixTime now) {
  return std::chrono::duration_cast<std::chrono::seconds>(time_run(job, now)).count();
}

int64_t cpus_asked(const v1::Job& job) {
  return int64_t{job.spec().cpus_per_node()} * job.node_count();
}

// What it was given, as far as that is known, else what it asks for.
int64_t cpus_given(const AccountRow& row) {
  return row.given && row.given->cpus > 0 ? row.given->cpus : cpus_asked(row.job);
}

// Seconds of all CPUs it had, where it is known how many these are.
std::string cpu_time(const AccountRow& row, std::string_view title, UnixTime now) {
  const int64_t cpus = cpus_given(row);
  if (cpus == 0) return "";
  const int64_t seconds = elapsed_seconds(row.job, now) * cpus;
  return is_same_word(title, "CPUTime") ? format_clock(seconds * Duration(1s))
                                        : std::to_string(seconds);
}

Allotment asked_by(const AccountRow& row) {
  const v1::Job& job = row.job;
  Allotment asked = {.gpus = job.gpus_per_node() * job.node_count(),
                     .cpus = cpus_asked(job),
                     .memory_bytes = job.spec().memory_per_node_bytes() * job.node_count()};
  if (job.gpus_per_node() == 0 && row.given) asked.gpus = row.given->gpus;  // whole nodes
  return asked;
}

// What a node that has left had is not known; then what was asked for is.
Allotment given_to(const AccountRow& row) {
  Allotment given = asked_by(row);
  if (!row.given) return given;
  given.gpus = row.given->gpus;
  if (row.given->cpus > 0) given.cpus = row.given->cpus;
  if (row.given->memory_bytes > 0) given.memory_bytes = row.given->memory_bytes;
  return given;
}

std::string cell(const std::string& text, const AccountField& field) {
  const auto width = static_cast<size_t>(field.width);
  // As Slurm: what is longer ends in a plus.
  std::string shown = text.size() > width ? text.substr(0, width - 1) + "+" : text;
  const std::string gap(width - std::min(width, display_width(shown)), ' ');
  return field.left ? shown + gap : gap + shown;
}

}  // namespace

std::string tres_text(int nodes, const Allotment& tres) {
  std::string text;
  if (tres.cpus > 0) text += fmt::format("cpu={},", tres.cpus);
  if (tres.memory_bytes > 0) text += fmt::format("mem={}M,", tres.memory_bytes >> 20);
  text += fmt::format("node={}", nodes);
  if (tres.gpus > 0) text += fmt::format(",gres/gpu={}", tres.gpus);
  return text;
}

Result<std::vector<AccountField>> parse_account_fields(std::string_view text) {
  constexpr int kWidthMax = 1'000;
  std::vector<AccountField> fields;
  for (;;) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    const size_t percent = item.find('%');
    const KnownField* known = find_field(item.substr(0, percent));
    if (known == nullptr) {
      return invalid_argument("field '{}' is not known: sacct --helpformat lists them",
                              item.substr(0, 64));
    }
    AccountField field = {std::string(known->title), known->width, false};
    if (percent != std::string_view::npos) {
      std::string_view width = item.substr(percent + 1);
      field.left = width.starts_with('-');
      if (field.left) width.remove_prefix(1);
      field.width = whole_number<int>(width).value_or(0);
      if (field.width < 1 || field.width > kWidthMax) {
        return invalid_argument("field '{}': the width must be 1..{}", item.substr(0, 64),
                                kWidthMax);
      }
    }
    fields.push_back(std::move(field));
    if (comma == std::string_view::npos) return fields;
    text.remove_prefix(comma + 1);
  }
}

std::string known_account_fields() {
  std::string text;
  for (const KnownField& field : kFields) text += fmt::format("{}\n", field.title);
  return text;
}

std::string account_value(const AccountRow& row, std::string_view title, UnixTime now) {
  const v1::Job& job = row.job;
  const KnownField* known = find_field(title);
  if (known == nullptr || known->letter == 'a') return "";
  const bool is_step = !row.step.empty();
  if (is_step && std::find(std::begin(kOfJobsOnly), std::end(kOfJobsOnly), known->title) !=
                     std::end(kOfJobsOnly)) {
    return "";
  }
  if (known->letter == 'C') {
    const int64_t cpus = known->title == "ReqCPUS" ? cpus_asked(job) : cpus_given(row);
    return cpus == 0 ? "" : std::to_string(cpus);
  }
  if (known->letter != 0) return job_value(job, known->letter, now);
  if (known->title == "JobID" || known->title == "JobIDRaw") {
    const std::string id = known->title == "JobID" ? array_id_text(job) : std::to_string(job.id());
    return is_step ? fmt::format("{}.{}", id, row.step) : id;
  }
  if (known->title == "JobName") return is_step ? row.step_name : job.name();
  if (known->title == "Cluster") return "hai";
  if (known->title == "NTasks") return row.tasks > 0 ? std::to_string(row.tasks) : "";
  if (known->title == "AllocTRES") {
    return job.attempt() == 0 ? "" : tres_text(job.node_count(), given_to(row));
  }
  if (known->title == "ReqTRES") return tres_text(job.node_count(), asked_by(row));
  if (known->title == "Elapsed") return format_clock(time_run(job, now));
  if (known->title == "ElapsedRaw") return std::to_string(elapsed_seconds(job, now));
  if (known->title == "CPUTime" || known->title == "CPUTimeRAW") return cpu_time(row, title, now);
  if (known->title == "ExitCode" || known->title == "DerivedExitCode")
    return recorded_exit_text(job);
  if (known->title == "Restarts") return std::to_string(std::max(0, job.attempt() - 1));
  if (known->title == "Comment") return job.end_reason();
  if (known->title == "Start") {
    return job.has_started_at_us() ? job_value(job, 'S', now) : "Unknown";
  }
  if (known->title == "End") return job.has_ended_at_us() ? job_value(job, 'e', now) : "Unknown";
  if (known->title == "NodeList") {
    return job.nodes_size() > 0 ? job_value(job, 'N', now) : "None assigned";
  }
  if (known->title == "TotalCPU" && job.has_cpu_seconds()) {
    return format_clock(job.cpu_seconds() * Duration(1s));
  }
  if (known->title == "MaxRSS" && job.has_peak_memory_bytes()) {
    return fmt::format("{}K", job.peak_memory_bytes() / 1024);
  }
  return "";  // averages, and the user's and the system's part of CPU time: hai does not keep them
}

std::vector<AccountRow> account_rows(const v1::Job& job, std::optional<Allotment> given,
                                     bool with_steps, const std::vector<StepRecord>& steps) {
  std::vector<AccountRow> rows = {{.job = job, .given = given}};
  if (!with_steps || !may_have_steps(job)) return rows;
  AccountRow step = {.job = job, .step = "batch", .step_name = "batch", .given = given};
  const auto plan = job.spec().environments().find(kPlanVariable);
  if (plan != job.spec().environments().end()) {
    const Result<JobPlan> parsed = parse_plan(plan->second);
    if (parsed.is_ok() && !parsed.value().command.empty()) {
      const std::string& program = parsed.value().command[0];
      step.step = "0";
      step.step_name = program.substr(program.rfind('/') + 1);
    }
  }
  const bool is_known = step.step == "0" && !steps.empty() && steps.front().number == 0;
  if (!is_known) rows.push_back(std::move(step));
  for (const StepRecord& known : steps) {
    rows.push_back({.job = job_of_step(known, job),
                    .step = std::to_string(known.number),
                    .step_name = known.name,
                    .given = Allotment{.gpus = known.gpus, .cpus = known.cpus},
                    .tasks = known.tasks});
  }
  return rows;
}

std::string format_accounts(const std::vector<AccountRow>& rows,
                            const std::vector<AccountField>& fields, const AccountStyle& style,
                            UnixTime now) {
  std::string text;
  const auto add_line = [&](const auto& value_of) {
    std::string line;
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string value = printable(value_of(fields[i]));
      if (style.delimiter.empty()) {
        line += cell(value, fields[i]) + " ";
      } else {
        const bool is_last = i + 1 == fields.size();
        line += value + (is_last && !style.ends_with_delimiter ? "" : style.delimiter);
      }
    }
    text += line + "\n";
  };
  if (style.header) {
    add_line([](const AccountField& field) { return field.title; });
    if (style.delimiter.empty()) {
      add_line([](const AccountField& field) {
        return std::string(static_cast<size_t>(field.width), '-');
      });
    }
  }
  for (const AccountRow& row : rows) {
    add_line([&](const AccountField& field) { return account_value(row, field.title, now); });
  }
  return text;
}

}  // namespace hai::cli::slurm
