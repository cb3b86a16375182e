#include "cli/slurm/step_cancel.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include "cli/exit_code.h"
#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/step/client.h"
#include "common/signal_name.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kCancel = Command::scancel;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<StepName> parse_step_name(std::string_view text) {
  const size_t dot = std::min(text.find('.'), text.size());
  const std::string_view job = text.substr(0, dot);
  const std::string_view step = dot == text.size() ? "" : text.substr(dot + 1);
  const size_t bar = std::min(job.find('_'), job.size());
  const bool is_job =
      is_number(job.substr(0, bar)) && (bar == job.size() || is_number(job.substr(bar + 1)));
  if (is_job && (step == "batch" || step == "extern")) {
    return invalid_argument("{}: that is the job itself: scancel {}", text, job);
  }
  if (!is_job || !is_number(step)) {
    return invalid_argument("Invalid job step id specified: '{}'", text.substr(0, 64));
  }
  StepName name{.job = std::string(job)};
  std::from_chars(step.data(), step.data() + step.size(), name.number);
  return name;
}

std::string to_string(const StepName& step) { return fmt::format("{}.{}", step.job, step.number); }

Result<CancelOrder> cancel_order(const ParsedWords& words) {
  CancelOrder order;
  bool names_jobs = false;
  for (const std::string& word : words.operands) {
    for (const auto item : std::views::split(std::string_view(word), ',')) {
      const std::string_view name(item.begin(), item.end());
      if (name.empty()) continue;
      names_jobs = names_jobs || name.find('.') == name.npos;
      if (name.find('.') == name.npos) continue;
      Result<StepName> step = parse_step_name(name);
      RETURN_IF_ERROR(step.status());
      if (std::ranges::find(order.steps, step.value()) == order.steps.end()) {
        order.steps.push_back(std::move(step.value()));
      }
    }
  }
  const GivenOption* given = words.find("signal");
  if (order.steps.empty()) {
    if (given == nullptr) return order;
    return option_error(*given,
                        "of steps only (JOB.STEP): a job is told to save and leave by hai "
                        "suspend JOB, and ended without --signal");
  }
  if (names_jobs) return invalid_argument("name jobs or steps, not both at once");
  if (given == nullptr) return order;
  const Result<int> signal = parse_signal(given->value);
  if (!signal.is_ok()) return option_error(*given, signal.status().message());
  order.signal = signal.value();
  return order;
}

bool is_own_step(const StepName& step) {
  const auto is = [&](const char* name) { return own_variable(name).value_or("") == step.job; };
  const std::string task = fmt::format("{}_{}", own_variable("SLURM_ARRAY_JOB_ID").value_or(""),
                                       own_variable("SLURM_ARRAY_TASK_ID").value_or(""));
  return own_variable(kStepSocketVariable) && (is("SLURM_JOB_ID") || task == step.job);
}

bool cancel_own_step(const StepName& step, int signal) {
  const std::string socket = own_variable(kStepSocketVariable).value_or("");
  const Status status = cancel_step(socket, step.number, signal);
  if (!status.is_ok()) complain_of_step(step, status);
  return status.is_ok();
}

void complain_of_step(const StepName& step, const Status& status) {
  complain(kCancel,
           fmt::format("Kill job error on job step id {}: {}", to_string(step), status.message()));
}

int run_scancel_in_image(const std::vector<std::string>& words) {
  const Result<ParsedWords> parsed = parse_with_environment(kCancel, words);
  if (!parsed.is_ok()) return usage_error(kCancel, parsed.status().message());
  if (is_only_asking(kCancel, parsed.value())) return kOk;
  const Result<CancelOrder> order = cancel_order(parsed.value());
  if (!order.is_ok()) return usage_error(kCancel, order.status().message());
  const std::vector<StepName>& steps = order.value().steps;
  if (steps.empty() || !std::ranges::all_of(steps, is_own_step)) {
    return usage_error(kCancel, "in an image only steps of its own job, from its script");
  }
  int exit_code = kOk;
  for (const StepName& step : steps) {
    if (!cancel_own_step(step, order.value().signal)) exit_code = kError;
  }
  return exit_code;
}

}  // namespace hai::cli::slurm
