#include "agent/shim/job_requests.h"

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "common/status.h"

namespace hai {

namespace {

using Json = nlohmann::json;

constexpr double kWatchdogSecondsMax = 30.0 * 24 * 3600;
constexpr int kNestingMax =
    16;  // the parser recurses nowhere, but what it builds is destroyed by recursion

Result<int64_t> get_step(const Json& request) {
  const auto step = request.find("step");
  if (step == request.end() || !step->is_number_integer())
    return invalid_argument("step must be an integer");
  if (step->is_number_unsigned() && step->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return invalid_argument("step is too large");
  }
  if (step->get<int64_t>() < 0) return invalid_argument("step must not be negative");
  return step->get<int64_t>();
}

Result<double> get_seconds(const Json& request, double max) {
  const auto seconds = request.find("seconds");
  if (seconds == request.end() || !seconds->is_number())
    return invalid_argument("seconds must be a number");
  const double value = seconds->get<double>();
  if (!std::isfinite(value) || value < 0 || value > max) {
    return invalid_argument("seconds must be from 0 to {}", max);
  }
  return value;
}

Result<std::string> get_text(const Json& request, const char* name, size_t bytes_max) {
  const auto text = request.find(name);
  if (text == request.end() || !text->is_string())
    return invalid_argument("{} must be a string", name);
  std::string value = text->get<std::string>();
  if (value.size() > bytes_max) {
    return invalid_argument("{} has {} bytes, at most {}", name, value.size(), bytes_max);
  }
  return value;
}

Status report_checkpoint(const Json& request, JobPort& port) {
  const Result<int64_t> step = get_step(request);
  if (!step.is_ok()) return step.status();
  const Result<std::string> path = get_text(request, "path", kCheckpointPathBytesMax);
  if (!path.is_ok()) return path.status();
  double seconds = 0;
  if (request.contains("seconds") && !request["seconds"].is_null()) {
    const Result<double> given = get_seconds(request, kWatchdogSecondsMax);
    if (!given.is_ok()) return given.status();
    seconds = given.value();
  }
  port.report_checkpoint(step.value(), path.value(), seconds);
  return ok();
}

Status report_progress(const Json& request, JobPort& port) {
  const Result<int64_t> step = get_step(request);
  if (!step.is_ok()) return step.status();
  port.report_progress(step.value());
  return ok();
}

Status report_metrics(const Json& request, JobPort& port) {
  const auto given = request.find("metrics");
  if (given == request.end() || !given->is_object())
    return invalid_argument("metrics must be an object of names and numbers");
  RankMetrics metrics;
  for (const auto& [name, value] : given->items()) {
    if (!is_rank_metric_name(name)) {
      return invalid_argument("metrics: '{}' must be 1 to 40 letters, digits and _ . / -",
                              name.substr(0, 64));
    }
    // JSON has no NaN; Python writes one nevertheless, and that is no JSON.
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      return invalid_argument("metrics: {} must be a number", name);
    metrics.emplace(name, value.get<double>());
  }
  return port.report_metrics(metrics);
}

Status set_whole_life_state(const Json& request, JobPort& port) {
  Result<std::string> state = get_text(request, "state", kWholeLifeStateBytesMax);
  if (!state.is_ok()) return state.status();
  port.set_whole_life_state(std::move(state).value());
  return ok();
}

Status set_watchdog_time(const Json& request, JobPort& port) {
  const Result<double> seconds = get_seconds(request, kWatchdogSecondsMax);
  if (!seconds.is_ok()) return seconds.status();
  port.set_watchdog(Duration(static_cast<int64_t>(seconds.value() * 1e6)));
  return ok();
}

Status record_step(const Json& request, JobPort& port) {
  const auto record = request.find("record");
  if (record == request.end() || !record->is_object())
    return invalid_argument("record must be an object");
  const std::string line = record->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (line.size() > kStepRecordBytesMax) {
    return invalid_argument("record has {} bytes, at most {}", line.size(), kStepRecordBytesMax);
  }
  return port.record_step(line);
}

Status handle(const Json& request, JobPort& port, Json& answer) {
  const Result<std::string> op = get_text(request, "op", 64);
  if (!op.is_ok()) return op.status();
  const std::string& name = op.value();
  // Not said by a program, so it does not show that one would hear of a suspend request.
  if (name == "record_step") return record_step(request, port);
  port.note_sdk();
  if (name == "receive_suspend_command") {
    answer["suspend"] = port.is_suspend_requested();
    return ok();
  }
  if (name == "go_suspend") {
    port.go_suspend();
    return ok();
  }
  if (name == "get_whole_life_state") {
    answer["state"] = port.whole_life_state();
    return ok();
  }
  if (name == "report_checkpoint") return report_checkpoint(request, port);
  if (name == "report_progress") return report_progress(request, port);
  if (name == "report_metrics") return report_metrics(request, port);
  if (name == "set_whole_life_state") return set_whole_life_state(request, port);
  if (name == "set_watchdog_time") return set_watchdog_time(request, port);
  return unimplemented("unknown op {}", name);
}

// Discards instead of throwing, also what is nested too deeply.
Json parse(std::string_view line) {
  bool too_deep = false;
  const auto watch_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kNestingMax;
    return !too_deep;
  };
  Json request = Json::parse(line, watch_depth, false);
  return too_deep ? Json() : request;
}

}  // namespace

std::string answer_job_request(std::string_view line, JobPort& port) {
  const Json request = parse(line);
  Json answer = {{"ok", true}};
  const Status status =
      request.is_object() ? handle(request, port, answer) : invalid_argument("not a JSON object");
  if (!status.is_ok()) answer = {{"ok", false}, {"error", status.message()}};
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hai
