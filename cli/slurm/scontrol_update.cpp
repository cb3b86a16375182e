#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/scontrol_update.h"
#include "cli/slurm/slurm_time.h"
#include "common/job_spec.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

struct KeyValue {
  std::string key;  // lower case
  std::string value;
};

Result<KeyValue> split_word(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    return invalid_argument("update: '{}' is not KEY=VALUE", word.substr(0, 64));
  }
  KeyValue split{word.substr(0, equals), word.substr(equals + 1)};
  if (split.key.ends_with('+') || split.key.ends_with('-')) {
    return invalid_argument("update: {}= is not supported; give the whole value with =",
                            split.key.substr(0, 64));
  }
  std::transform(split.key.begin(), split.key.end(), split.key.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return split;
}

Status edit_priority(const std::string& text, v1::EditJobRequest& edit) {
  const Result<Priority> priority = parse_priority(text);
  if (!priority.is_ok()) return invalid_argument("update: {}", priority.status().message());
  edit.set_priority(text);
  return ok();
}

Status set_key(const KeyValue& word, UnixTime now, v1::EditJobRequest& edit) {
  if (word.key == "timelimit") {
    const Result<Duration> limit = parse_time_limit(word.value);
    if (!limit.is_ok()) return invalid_argument("update: {}", limit.status().message());
    edit.set_timeout(format_duration(limit.value()));
    return ok();
  }
  if (word.key == "numnodes" || word.key == "reqnodes") {
    const std::optional<int> nodes = whole_number<int>(word.value);
    if (!nodes) {
      return invalid_argument("update: NumNodes={}: give one number of nodes",
                              word.value.substr(0, 64));
    }
    edit.set_node_count(*nodes);
    return ok();
  }
  if (word.key == "arraytaskthrottle") {
    const std::optional<int> limit = whole_number<int>(word.value);
    if (!limit || *limit < 0) {
      return invalid_argument("update: ArrayTaskThrottle={}: give a number of tasks, 0 = any",
                              word.value.substr(0, 64));
    }
    edit.set_array_limit(*limit);
    return ok();
  }
  if (word.key == "qos" || word.key == "priority") return edit_priority(word.value, edit);
  if (word.key == "starttime" || word.key == "eligibletime") {
    const Result<UnixTime> time = parse_begin_time(word.value, now);
    if (!time.is_ok()) return invalid_argument("update: {}", time.status().message());
    if (time.value() <= now) {
      edit.set_begin_now(true);
    } else {
      edit.set_begin_at_us(to_micros(time.value()));
    }
    return ok();
  }
  if (word.key == "nodename") {
    return invalid_argument("update of nodes: use hai cordon, hai drain and hai undrain");
  }
  return invalid_argument(
      "update: {} cannot change; only TimeLimit, NumNodes, QOS, Priority, StartTime and "
      "ArrayTaskThrottle of a JobId can",
      word.key.substr(0, 64));
}

}  // namespace

Result<JobUpdate> read_update(const Words& words, UnixTime now) {
  JobUpdate update;
  bool any = false;
  for (const std::string& word : words) {
    const Result<KeyValue> split = split_word(word);
    RETURN_IF_ERROR(split.status());
    if (split.value().key != "jobid" && split.value().key != "job") {
      RETURN_IF_ERROR(set_key(split.value(), now, update.edit));
      any = true;
      continue;
    }
    const Result<std::vector<std::string>> ids = parse_job_ids(split.value().value);
    RETURN_IF_ERROR(ids.status());
    update.jobs.insert(update.jobs.end(), ids.value().begin(), ids.value().end());
  }
  if (update.jobs.empty()) return invalid_argument("update: say which job: JobId=ID");
  if (!any) return invalid_argument("update: say what is to change, as in TimeLimit=2:00:00");
  return update;
}

int update_jobs(Client& client, const JobUpdate& update) {
  int exit_code = kOk;
  for (const std::string& job : update.jobs) {
    v1::EditJobRequest edit = update.edit;
    edit.set_job(job);
    const Result<v1::EditJobReply> reply = client.edit_job(edit);
    if (reply.is_ok()) continue;
    const std::string what = reply.status().code() == Code::not_found ? "Invalid job id specified"
                                                                      : reply.status().message();
    complain(Command::scontrol, fmt::format("update of job id {}: {}", job, what));
    if (exit_code == kOk) exit_code = exit_code_of(reply.status());
  }
  return exit_code;
}

}  // namespace hai::cli::slurm
