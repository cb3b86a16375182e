#include "cli/slurm/submit.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/slurm/console.h"
#include "cli/slurm/slurm_time.h"
#include "cli/submission.h"
#include "common/count_of.h"
#include "common/hex.h"
#include "common/spec/sealed_value.h"
#include "common/text_check.h"
#include "proto/convert/spec_convert.h"

namespace hai::cli::slurm {
namespace {

namespace fs = std::filesystem;

std::string random_hex() {
  unsigned char bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  return to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes});
}

// They travel as JSON, which would change other bytes in silence.
Status check_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (const auto bad = find_bad_text(word, ControlCharacters::allow)) {
      return invalid_argument("the argument '{}' contains {}", printable(word.substr(0, 64)),
                              bad->what);
    }
  }
  return ok();
}

// A job that is to be held is submitted not to start for so long, since holding it is a call of its
// own. Arrays cannot be edited: theirs stays, and is short.
constexpr Duration kJobHoldPatience = 10min;
constexpr Duration kArrayHoldPatience = 15s;

// Then `begin_at` is again what was asked for; where that fails the job is held all the same.
Status hold(Command command, Client& client, int64_t id, std::optional<UnixTime> begin_at,
            const JobSpec& sent) {
  v1::ControlJobRequest request;
  request.add_jobs(std::to_string(id));
  request.set_action(v1::JOB_ACTION_HOLD);
  const auto not_held = [id](const Status& status) {
    return Status(status.code(),
                  fmt::format("job {0} is submitted, but not held: {1}; scontrol hold {0} holds it",
                              id, status.message()));
  };
  const Result<v1::ControlJobReply> reply = client.control_job(request);
  if (!reply.is_ok()) return not_held(reply.status());
  for (const v1::ControlResult& result : reply.value().results()) {
    if (result.code() != 0) return not_held({static_cast<Code>(result.code()), result.message()});
  }
  if (!sent.array.empty()) return ok();
  v1::EditJobRequest edit;
  edit.set_job(std::to_string(id));
  begin_at ? edit.set_begin_at_us(to_micros(*begin_at)) : edit.set_begin_now(true);
  const Status edited = client.edit_job(edit).status();
  if (!edited.is_ok()) {
    const int64_t kept_us = to_micros(sent.begin_at.value_or(wall_now()));
    tell(command,
         fmt::format("job {0} is held, but released it starts not before {1}: {2}; scontrol update "
                     "JobId={0} StartTime=now ends that",
                     id, format_clock_time(kept_us), edited.message()));
  }
  return ok();
}

// Of a server without a key file: nothing else about this variable is refused so.
bool is_sealing_refused(const Status& status) {
  return status.code() == Code::failed_precondition &&
         status.message().starts_with(fmt::format("spec.environments.{}: ", kKeyVariable));
}

Status ask_whole_nodes(Client& client, const MappedJob& job) {
  if (job.least_cpus == 0 && job.least_gpus == 0) return ok();
  v1::ListNodesRequest request;
  request.set_group(job.spec.group);
  request.set_zone(job.spec.zone);
  const Result<std::vector<v1::Node>> nodes = all_nodes(client, std::move(request));
  RETURN_IF_ERROR(nodes.status());
  return check_whole_nodes(job, nodes.value());
}

}  // namespace

Status check_whole_nodes(const MappedJob& job, const std::vector<v1::Node>& nodes) {
  int most_cpus = 0, most_gpus = 0, fitting = 0;
  for (const v1::Node& node : nodes) {
    // One that has not said what it has may have it.
    const int cpus = node.cpus() == 0 ? job.least_cpus : node.cpus();
    most_cpus = std::max(most_cpus, cpus);
    most_gpus = std::max(most_gpus, node.gpus());
    if (cpus >= job.least_cpus && node.gpus() >= job.least_gpus) ++fitting;
  }
  // No such group: the server says which there are.
  if (nodes.empty() || fitting >= job.spec.node_count) return ok();
  const std::string& group = job.spec.group;
  if (job.least_cpus > most_cpus) {
    return invalid_argument("{} CPUs of a node are asked for, but no node of {} has more than {}",
                            job.least_cpus, group, most_cpus);
  }
  if (job.least_gpus > most_gpus) {
    return invalid_argument("{} GPUs of a node are asked for, but no node of {} has more than {}",
                            job.least_gpus, group, most_gpus);
  }
  return invalid_argument("{} asked for, but {} of {} the CPUs and GPUs that the job names",
                          count_of(job.spec.node_count, "node"), fitting,
                          fitting == 1 ? group + " has" : group + " have");
}

Result<int64_t> submit_job(Command command, Client& client, MappedJob job,
                           const std::string& script) {
  JobSpec& spec = job.spec;
  RETURN_IF_ERROR(check_words(job.plan.command));
  RETURN_IF_ERROR(check_words(job.plan.arguments));
  spec.environments[kPlanVariable] = format_plan(job.plan);
  const std::string key = random_hex();
  spec.environments[kKeyVariable] = std::string(kToSealMark) + key;
  if (!script.empty()) spec.environments[kScriptVariable] = script;
  if (!job.functions_text.empty()) spec.environments[kFunctionsVariable] = job.functions_text;
  RETURN_IF_ERROR(check_spec(spec));
  std::error_code error;
  if (!fs::is_directory(spec.workspace, error)) {
    return invalid_argument("there is no directory {}", spec.workspace);
  }
  RETURN_IF_ERROR(ask_whole_nodes(client, job));
  const std::optional<UnixTime> begin_at = spec.begin_at;
  if (job.is_held) {
    const UnixTime earliest =
        wall_now() + (spec.array.empty() ? kJobHoldPatience : kArrayHoldPatience);
    spec.begin_at = std::max(begin_at.value_or(earliest), earliest);
  }
  for (int tries = 0;; ++tries) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = to_proto(spec);
    request.set_request_id(random_hex());
    const Result<v1::SubmitJobReply> reply = client.submit_job(request);
    if (reply.is_ok()) {
      const int64_t id = reply.value().job_id();
      if (job.is_held) RETURN_IF_ERROR(hold(command, client, id, begin_at, spec));
      return id;
    }
    if (is_sealing_refused(reply.status()) && spec.environments[kKeyVariable] != key) {
      spec.environments[kKeyVariable] = key;
      continue;
    }
    // Slurm's names need not be unique, hai's must.
    if (reply.status().code() != Code::already_exists || tries == 3) return reply.status();
    spec.name = unique_name(job.spec.name.substr(0, 40));
  }
}

Result<std::string> ask_start(Client& client, const MappedJob& job) {
  RETURN_IF_ERROR(ask_whole_nodes(client, job));
  v1::WhatIfRequest request;
  *request.mutable_submit() = to_proto(job.spec);
  Result<v1::WhatIfReply> reply = client.what_if(request);
  if (reply.status().code() == Code::already_exists) {  // a submit would take another name
    request.mutable_submit()->set_name(unique_name(job.spec.name.substr(0, 40)));
    reply = client.what_if(request);
  }
  RETURN_IF_ERROR(reply.status());
  const v1::WhyJobReply& answer = reply.value().job();
  if (!reply.value().has_job() || !answer.has_start_p50_us()) {
    return fmt::format("{} {}", reply.value().text(), answer.pending_reason().text());
  }
  return fmt::format("{} to start at {} using {} nodes in node group {}", job.spec.name,
                     format_clock_time(answer.start_p50_us()), job.spec.node_count, job.spec.group);
}

}  // namespace hai::cli::slurm
