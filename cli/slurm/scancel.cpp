#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/control.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/map_job.h"
#include "cli/slurm/step_cancel.h"
#include "cli/slurm/submit.h"
#include "cli/table.h"
#include "hai/v1/shell.pb.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kScancel = Command::scancel;

bool has_filter(const ParsedWords& words) {
  for (const char* name :
       {"user", "me", "name", "jobname", "partition", "qos", "nodelist", "state"}) {
    if (words.has(name)) return true;
  }
  return false;
}

Result<std::vector<std::string>> named_ids(const ParsedWords& words) {
  std::vector<std::string> ids;
  for (const std::string& word : words.operands) {
    const Result<std::vector<std::string>> named = parse_job_ids(word);
    RETURN_IF_ERROR(named.status());
    ids.insert(ids.end(), named.value().begin(), named.value().end());
  }
  return ids;
}

// "PENDING" and the like; what has ended cannot be ended.
Result<std::vector<std::string>> states_of(const ParsedWords& words) {
  const GivenOption* given = words.find("state");
  if (given == nullptr) return std::vector<std::string>{};
  Result<std::vector<std::string>> states = parse_states(given->value);
  if (!states.is_ok()) return option_error(*given, states.status().message());
  for (const std::string& code : states.value()) {
    if (code != "PD" && code != "R" && code != "S" && code != "CF" && code != "CG") {
      return option_error(*given, "must be PENDING, RUNNING or SUSPENDED");
    }
  }
  return states;
}

// By its number, as a task (17_3) or with its whole array.
bool is_named_by(const std::vector<std::string>& names, const v1::Job& job) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == std::to_string(job.id()) || name == array_id_text(job) ||
           (job.has_array_task() && name == std::to_string(job.array_task().array()));
  });
}

// "17_[3-9]", "" if all are made.
std::string tasks_to_come(const v1::Job& array) {
  const std::string& indices = array.array().to_come();
  return indices.empty() ? "" : fmt::format("{}_[{}]", array.id(), indices);
}

// The jobs that the filters mean; among `names`, if there are any. An array is PENDING until all
// its tasks are made, whatever these do: with states only tasks are chosen, those still to come
// as waiting ones.
Result<std::vector<std::string>> choose_jobs(Client& client, const ParsedWords& options,
                                             const std::vector<std::string>& names,
                                             const std::vector<std::string>& states) {
  const Result<JobFilter> filter = read_filter(client, options);
  RETURN_IF_ERROR(filter.status());
  const Result<FoundJobs> found = find_jobs(client, filter.value(), false);
  RETURN_IF_ERROR(found.status());
  if (!found.value().left_out.empty()) tell(kScancel, found.value().left_out + "; run it again");
  std::vector<std::string> chosen;
  for (const v1::Job& job : found.value().jobs) {
    if (!names.empty() && !is_named_by(names, job)) continue;
    if (!states.empty() &&
        std::find(states.begin(), states.end(), state_of(job).code) == states.end()) {
      continue;
    }
    if (!states.empty() && job.has_array()) {
      const Result<std::vector<std::string>> waiting = parse_job_ids(tasks_to_come(job));
      RETURN_IF_ERROR(waiting.status());
      chosen.insert(chosen.end(), waiting.value().begin(), waiting.value().end());
      continue;
    }
    chosen.push_back(std::to_string(job.id()));
  }
  return chosen;
}

// The job's first rank does it: over a shell there, which only the job's owner gets.
Status cancel_in_job(Client& client, const StepName& name, int signal) {
  const Result<v1::Job> job = named_job(client, name.job);
  RETURN_IF_ERROR(job.status());
  if (!may_have_steps(job.value())) return not_found("the job has no steps");
  const Result<std::vector<StepRecord>> steps = read_steps(client, job.value());
  RETURN_IF_ERROR(steps.status());
  const auto step = std::ranges::find(steps.value(), name.number, &StepRecord::number);
  if (step == steps.value().end()) return not_found("the job has no such step");
  if (!is_running(*step, job.value())) return failed_precondition("it does not run");
  if (step->socket.empty()) {
    return unimplemented("the hai-slurm that the job runs with ends whole jobs only");
  }
  v1::ShellOpen open;
  open.set_job(std::to_string(job.value().id()));
  for (const std::string& word :
       {job.value().entrypoint(), std::string("--cancel-step"), step->socket,
        std::to_string(name.number), std::to_string(signal)}) {
    open.mutable_program()->add_argv(word);
  }
  const Result<ShellOutput> out = run_to_end(client, open);
  RETURN_IF_ERROR(out.status());
  if (out.value().exit_code == 0) return ok();
  const std::string& errors = out.value().errors;
  return failed_precondition("{}", printable(errors.substr(0, errors.find('\n'))));
}

int cancel_steps(Session& session, const CancelOrder& order) {
  int exit_code = kOk;
  for (const StepName& step : order.steps) {
    if (is_own_step(step)) {
      if (!cancel_own_step(step, order.signal) && exit_code == kOk) exit_code = kError;
      continue;
    }
    const Result<Client*> client = session.client();
    if (!client.is_ok()) return fail(kScancel, client.status());
    Status status = cancel_in_job(*client.value(), step, order.signal);
    if (status.is_ok()) continue;
    if (status.code() == Code::permission_denied) {
      status = permission_denied("only the job's owner ends single steps; scancel {} ends the job",
                                 step.job);
    }
    complain_of_step(step, status);
    if (exit_code == kOk) exit_code = exit_code_of(status);
  }
  return exit_code;
}

}  // namespace

int run_scancel(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_with_environment(kScancel, words);
  if (!parsed.is_ok()) return usage_error(kScancel, parsed.status().message());
  const ParsedWords& options = parsed.value();
  if (is_only_asking(kScancel, options)) return kOk;
  const Result<CancelOrder> order = cancel_order(options);
  if (!order.is_ok()) return usage_error(kScancel, order.status().message());
  if (!order.value().steps.empty()) {
    if (has_filter(options)) return usage_error(kScancel, "what chooses jobs chooses no steps");
    return cancel_steps(session, order.value());
  }
  Result<std::vector<std::string>> ids = named_ids(options);
  if (!ids.is_ok()) return usage_error(kScancel, ids.status().message());
  const Result<std::vector<std::string>> states = states_of(options);
  if (!states.is_ok()) return usage_error(kScancel, states.status().message());
  if (ids.value().empty() && !has_filter(options)) {
    return usage_error(kScancel, "No job identification provided");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScancel, client.status());
  if (has_filter(options)) {
    Result<std::vector<std::string>> chosen =
        choose_jobs(*client.value(), options, ids.value(), states.value());
    if (!chosen.is_ok()) return fail(kScancel, chosen.status());
    ids.value() = std::move(chosen.value());
  }
  if (options.has("verbose")) {
    for (const std::string& id : ids.value()) tell(kScancel, "Terminating job " + id);
  }
  return control_jobs(kScancel, *client.value(), ids.value(), v1::JOB_ACTION_STOP,
                      "Kill job error");
}

}  // namespace hai::cli::slurm
