#include "cli/slurm/job_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_words.h"
#include "common/count_of.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

// More than a record may have: a server that does not know what is asked sends the rank's log.
constexpr size_t kRecordBytesMax = 8u << 20;

}  // namespace

bool may_have_steps(const v1::Job& job) {
  return job.attempt() > 0 && job.parameters() == "--run-job";
}

Result<std::vector<StepRecord>> read_steps(Client& client, const v1::Job& job) {
  v1::ReadLogRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_steps(true);
  request.set_offset(-1);
  std::string lines;
  const Status status = client.read_log(request, [&](const v1::ReadLogReply& piece) {
    lines += piece.data();
    return lines.size() <= kRecordBytesMax;
  });
  RETURN_IF_ERROR(status);
  return parse_step_records(lines);
}

bool is_running(const StepRecord& step, const v1::Job& job) {
  return !step.ended_at && job.has_running_at_us();
}

v1::Job job_of_step(const StepRecord& step, const v1::Job& job) {
  v1::Job out = job;
  out.set_name(step.name);
  out.clear_nodes();
  const Result<std::vector<std::string>> nodes = parse_hostlist(step.nodes);
  if (nodes.is_ok()) {
    for (const std::string& node : nodes.value()) out.add_nodes(node);
  }
  out.set_node_count(step.node_count);
  out.set_started_at_us(to_micros(step.began_at));
  out.clear_ended_at_us();
  out.clear_running_at_us();
  out.clear_end_reason();
  out.clear_exit_code();
  out.clear_attempt_state();
  out.clear_cpu_seconds();
  out.clear_peak_memory_bytes();
  out.set_run_seconds(0);
  out.mutable_spec()->set_cpus_per_node(0);
  out.mutable_spec()->set_memory_per_node_bytes(0);
  if (is_running(step, job)) {
    out.set_state("running");
    out.set_running_at_us(to_micros(step.began_at));
    return out;
  }
  // Where its end is not recorded, it came with that of the attempt. When that was is known of the
  // job's last one only, which a job that is suspended has not had yet.
  std::optional<UnixTime> end = step.ended_at;
  if (!end && job.has_ended_at_us()) end = unix_micros(job.ended_at_us());
  if (end) {
    out.set_ended_at_us(to_micros(*end));
    out.set_run_seconds(std::max<int64_t>(0, (*end - step.began_at) / 1s));
  }
  if (!step.ended_at) {
    out.set_state("stopped");
    return out;
  }
  out.set_state(step.is_cancelled ? "stopped" : step.exit_code == 0 ? "succeeded" : "failed");
  out.set_exit_code(step.exit_code);
  out.set_cpu_seconds(step.used.cpu_time / 1s);
  out.set_peak_memory_bytes(step.used.peak_memory_bytes);
  return out;
}

StepFilter::StepFilter(std::string_view text) {
  std::set<std::string, std::less<>> whole;
  std::set<std::string, std::less<>> named;
  for (const std::string& item : split_list(text)) {
    const size_t dot = std::min(item.find('.'), item.size());
    const std::string job = item.substr(0, dot);
    if (named.insert(job).second) jobs_ += (jobs_.empty() ? "" : ",") + job;
    if (dot == item.size()) {
      whole.insert(job);
    } else {
      steps_.insert(item);
      with_steps_.insert(job);
    }
  }
  for (const std::string& job : whole) with_steps_.erase(job);
}

bool StepFilter::matches(const v1::Job& job, std::string_view step) const {
  for (const std::string& id : {std::to_string(job.id()), array_id_text(job)}) {
    if (with_steps_.contains(id)) return steps_.contains(fmt::format("{}.{}", id, step));
  }
  return true;
}

std::vector<StepRecord> StepReader::read(const v1::Job& job) {
  if (has_given_up_ || !may_have_steps(job)) return {};
  Result<std::vector<StepRecord>> steps = read_steps(client_, job);
  if (steps.is_ok()) return std::move(steps.value());
  if (steps.status().code() == Code::permission_denied) {
    ++unreadable_;
    return {};
  }
  failures_.push_back(
      fmt::format("the steps of {}: {}", array_id_text(job), steps.status().message()));
  // Each would wait as long again.
  has_given_up_ = steps.status().code() == Code::deadline_exceeded;
  return {};
}

std::vector<std::string> StepReader::left_out() const {
  constexpr size_t kToldMax = 5;
  std::vector<std::string> lines(
      failures_.begin(),
      failures_.begin() + static_cast<std::ptrdiff_t>(std::min(kToldMax, failures_.size())));
  if (failures_.size() > kToldMax)
    lines.push_back(fmt::format("and of {} more", count_of(failures_.size() - kToldMax, "job")));
  if (has_given_up_) lines.emplace_back("the steps of the others were not asked for");
  if (unreadable_ > 0) {
    lines.push_back(
        fmt::format("steps are shown to a job's owner and to operators: those of {} "
                    "are left out",
                    count_of(unreadable_, "job")));
  }
  return lines;
}

}  // namespace hai::cli::slurm
