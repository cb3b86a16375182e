#include "cli/slurm/describe.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/sacct_fields.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/step/output_writer.h"
#include "common/hostlist.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {
namespace {

// What the job's own script knows of it; the environment of others' jobs is not shown.
std::optional<JobPlan> plan_of(const v1::Job& job) {
  const auto text = job.spec().environments().find(kPlanVariable);
  if (text == job.spec().environments().end()) return std::nullopt;
  const Result<JobPlan> plan = parse_plan(text->second);
  return plan.is_ok() ? std::optional(plan.value()) : std::nullopt;
}

std::string output_path(const v1::Job& job, const JobPlan& plan, const std::string& pattern) {
  if (pattern.empty()) return "(null)";
  const bool is_task = job.has_array_task();
  const std::string path = expand_pattern(
      pattern, {.job = std::to_string(job.id()),
                .name = plan.name,
                .user = job.user(),
                .node = job.nodes_size() > 0 ? job.nodes(0) : "",
                .array_job = is_task ? std::to_string(job.array_task().array()) : "",
                .array_task = is_task ? std::to_string(job.array_task().index()) : ""});
  return path.starts_with('/') ? path : job.workspace() + "/" + path;
}

std::string limit_clock(const v1::Job& job) {
  const int64_t micros = job.spec().timeout_us();
  return micros == 0 ? "UNLIMITED" : format_clock(Duration(micros));
}

// Slurm names the end that the time limit makes.
std::string end_of(const v1::Job& job) {
  if (job.has_ended_at_us()) return format_clock_time(job.ended_at_us());
  const int64_t limit = job.spec().timeout_us();
  if (limit == 0 || !job.has_running_at_us()) return "Unknown";
  return format_clock_time(job.running_at_us() + limit);
}

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }

std::string quoted_gap(bool one_line) { return one_line ? " " : "\n   "; }

}  // namespace

std::string describe_job(const v1::Job& job, std::optional<Allotment> given, UnixTime now,
                         bool one_line) {
  const auto value = [&](char letter) { return job_value(job, letter, now); };
  const AccountRow row = {.job = job, .given = given};
  const auto plan = plan_of(job);
  const std::string cpus = account_value(row, "NCPUS", now);
  const int64_t memory = job.spec().memory_per_node_bytes() >> 20;
  const std::string started = job.has_started_at_us() ? value('S') : "Unknown";
  const std::string out = plan ? output_path(job, *plan, plan->output) : "(null)";
  const std::string gap = quoted_gap(one_line);
  std::string text = fmt::format("JobId={}", job.id());
  if (job.has_array_task()) {
    text += fmt::format(" ArrayJobId={} ArrayTaskId={}", job.array_task().array(), value('K'));
  }
  if (job.has_array()) {
    text += fmt::format(" ArrayJobId={} ArrayTaskId={}", job.id(), job.array().range());
  }
  text += fmt::format(" JobName={}", plan ? plan->name : job.name());
  const auto line = [&](const std::string& words) { text += gap + words; };
  line(fmt::format("UserId={0} GroupId={0} MCS_label=N/A", job.user()));
  line(fmt::format("Priority={} Nice=0 Account=(null) QOS={}", value('Q'), job.priority()));
  line(fmt::format("JobState={} Reason={} Dependency={}", value('T'), value('r'), value('E')));
  line(fmt::format("Requeue=1 Restarts={} BatchFlag={} Reboot=0 ExitCode={}",
                   std::max(0, job.attempt() - 1), plan && !plan->command.empty() ? 0 : 1,
                   account_value(row, "ExitCode", now)));
  line(fmt::format("RunTime={} TimeLimit={} TimeMin=N/A", format_clock(time_run(job, now)),
                   limit_clock(job)));
  const bool has_begin = job.spec().has_begin_at_us();
  line(fmt::format("SubmitTime={} EligibleTime={}", value('V'),
                   has_begin ? format_clock_time(job.spec().begin_at_us()) : value('V')));
  line(fmt::format("StartTime={} EndTime={} Deadline=N/A", started, end_of(job)));
  line(fmt::format("Partition={} AllocNode:Sid={}:0", job.group(),
                   plan ? plan->submit_host : "(null)"));
  const v1::NodeFilter& filter = job.spec().node_filter();
  line(fmt::format("ReqNodeList={} ExcNodeList={}", or_null(filter.nodes()),
                   or_null(filter.exclude())));
  line(fmt::format("NodeList={}", or_null(value('N'))));
  if (job.nodes_size() > 0) line(fmt::format("BatchHost={}", value('B')));
  line(fmt::format("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:*:*",
                   job.node_count(), cpus.empty() ? "N/A" : cpus,
                   plan ? plan->tasks : job.node_count(),
                   plan && plan->cpus_per_task > 0 ? std::to_string(plan->cpus_per_task) : "N/A"));
  line(fmt::format("ReqTRES={}", account_value(row, "ReqTRES", now)));
  line(fmt::format("AllocTRES={}", or_null(account_value(row, "AllocTRES", now))));
  line(fmt::format("MinCPUsNode={} MinMemoryNode={} MinTmpDiskNode=0", job.spec().cpus_per_node(),
                   memory == 0 ? "0" : fmt::format("{}M", memory)));
  line(fmt::format("Features={} DelayBoot=00:00:00",
                   or_null(join({filter.labels().begin(), filter.labels().end()}, "&"))));
  line(fmt::format("OverSubscribe={} Contiguous=0 Licenses=(null) Network=(null)",
                   job.gpus_per_node() == 0 ? "NO" : "OK"));
  line(fmt::format("Command={}", plan && !plan->command.empty() ? plan->command[0]
                                 : plan                         ? or_null(plan->script)
                                                                : or_null(job.entrypoint())));
  line(fmt::format("WorkDir={}", or_null(job.workspace())));
  line(fmt::format("StdErr={}",
                   plan && !plan->error.empty() ? output_path(job, *plan, plan->error) : out));
  line("StdIn=/dev/null");
  line(fmt::format("StdOut={}", out));
  line(fmt::format("TresPerNode={}", or_null(gres_text(job))));
  // Last, since it is a sentence.
  if (job.has_pending_reason()) line("Comment=" + job.pending_reason().text());
  if (!job.end_reason().empty()) line("Comment=" + job.end_reason());
  return text + "\n" + (one_line ? "" : "\n");
}

std::string describe_step(const StepRecord& step, const v1::Job& job, bool one_line) {
  const v1::Job own = job_of_step(step, job);
  const std::string gap = quoted_gap(one_line);
  return fmt::format(
      "StepId={}.{} UserId={} StartTime={} TimeLimit=UNLIMITED{}"
      "State={} Partition={} NodeList={}{}"
      "Nodes={} CPUs={} Tasks={} Name={} TRES={}\n{}",
      array_id_text(job), step.number, job.user(), format_clock_time(own.started_at_us()), gap,
      state_of(own).name, job.group(), or_null(job_value(own, 'N', UnixTime{})), gap,
      step.node_count, step.cpus, step.tasks, step.name,
      tres_text(step.node_count, {.gpus = step.gpus, .cpus = step.cpus}), one_line ? "" : "\n");
}

std::string describe_partition(const std::vector<v1::Node>& nodes, bool one_line) {
  const std::string& group = nodes.at(0).group();
  std::vector<std::string> names;
  int64_t cpus = 0, gpus = 0, memory = 0;
  bool is_up = false;
  for (const v1::Node& node : nodes) {
    names.push_back(node.name());
    cpus += node.cpus();
    gpus += node.gpus();
    memory += node.memory_bytes() >> 20;
    is_up = is_up || node_state(node).code != "down";
  }
  const bool is_default = group == JobSpec().group;
  const std::string gap = quoted_gap(one_line);
  std::string text = fmt::format("PartitionName={}", group);
  const auto line = [&](const std::string& words) { text += gap + words; };
  line("AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL");
  line(fmt::format("AllocNodes=ALL Default={} QoS=N/A", is_default ? "YES" : "NO"));
  line("DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO");
  line("MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=1 LLN=NO MaxCPUsPerNode=UNLIMITED");
  line(fmt::format("Nodes={}", format_hostlist(std::move(names))));
  line("PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO");
  line(fmt::format("OverTimeLimit=NONE PreemptMode=REQUEUE State={}", is_up ? "UP" : "DOWN"));
  line(fmt::format("TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE", cpus, nodes.size()));
  line("DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED");
  line(fmt::format("TRES=cpu={},mem={}M,node={},gres/gpu={}", cpus, memory, nodes.size(), gpus));
  return text + "\n" + (one_line ? "" : "\n");
}

std::string describe_efficiency(const v1::Job& job, std::optional<Allotment> given, UnixTime now) {
  const AccountRow row = {.job = job, .given = given};
  std::string text = fmt::format("Job ID: {}\nCluster: hai\nUser/Group: {}/{}\n", job.id(),
                                 job.user(), job.user());
  text += fmt::format("State: {}", job_value(job, 'T', now));
  if (job.has_exit_code()) text += fmt::format(" (exit code {})", job.exit_code());
  text += fmt::format("\nNodes: {}\n", job.node_count());
  if (given) text += fmt::format("GPUs: {}\n", given->gpus);
  if (given && given->cpus > 0) text += fmt::format("CPUs: {}\n", given->cpus);
  text += fmt::format("Job Wall-clock time: {}\n", format_clock(time_run(job, now)));
  if (given) {
    const int64_t seconds = time_run(job, now) / 1s * given->gpus;
    text += fmt::format("GPU time: {}\n", format_clock(seconds * Duration(1s)));
    const Duration lost = job.lost_gpu_seconds() * Duration(1s);
    text += fmt::format("GPU time lost to interruptions: {}\n", format_clock(lost));
  }
  text += fmt::format("Interruptions: {} suspended, {} requeued\n", job.suspend_count(),
                      job.requeue_count());
  if (!job.has_peak_memory_bytes()) {
    return text + "CPU and memory used: not known (told when a rank ends)\n";
  }
  const Duration used = job.cpu_seconds() * Duration(1s);
  text += fmt::format("CPU Utilized: {}\n", format_clock(used));
  const int64_t core_seconds = given ? time_run(job, now) / 1s * given->cpus : 0;
  if (core_seconds > 0) {
    text += fmt::format(
        "CPU Efficiency: {:.2f}% of {} core-walltime\n",
        100.0 * static_cast<double>(job.cpu_seconds()) / static_cast<double>(core_seconds),
        format_clock(core_seconds * Duration(1s)));
  }
  return text + fmt::format("Memory Utilized: {} (the largest process)\n",
                            short_bytes(job.peak_memory_bytes()));
}

}  // namespace hai::cli::slurm
