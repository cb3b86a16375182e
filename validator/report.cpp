#include "validator/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hai::validator {

namespace {

std::string value_text(const Measurement& measurement) {
  if (!measurement.value) return "-";
  return fmt::format("{:.4g} {}", *measurement.value, measurement.unit);
}

}  // namespace

Verdict verdict_of(const Report& report) {
  bool has_ok = false;
  for (const Measurement& measurement : report.measurements) {
    if (measurement.verdict == Verdict::fail) return Verdict::fail;
    has_ok |= measurement.verdict == Verdict::ok;
  }
  return has_ok ? Verdict::ok : Verdict::skipped;
}

std::string format_json(const Report& report) {
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const Measurement& measurement : report.measurements) {
    nlohmann::ordered_json value = nullptr;
    if (measurement.value && std::isfinite(*measurement.value)) value = *measurement.value;
    tests.push_back({{"name", measurement.test},
                     {"metric", measurement.metric},
                     {"unit", measurement.unit},
                     {"value", value},
                     {"higher_is_better", measurement.higher_is_better},
                     {"verdict", to_string(measurement.verdict)},
                     {"detail", measurement.detail}});
  }
  const nlohmann::ordered_json json = {{"node", report.node},
                                       {"model", report.model},
                                       {"profile", report.profile},
                                       {"verdict", to_string(verdict_of(report))},
                                       {"seconds", std::round(report.seconds * 1000) / 1000},
                                       {"tests", tests}};
  // Names of devices and files may hold any bytes.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string format_head(const Report& report) {
  return fmt::format("{}: {}\n", report.node, report.model);
}

std::string format_row(const Measurement& measurement) {
  return fmt::format("{:<11} {:<20} {:>16}  {:<8} {}\n", measurement.test, measurement.metric,
                     value_text(measurement), to_string(measurement.verdict), measurement.detail);
}

std::string format_end(const Report& report) {
  return fmt::format("{} in {:.1f} s\n", to_string(verdict_of(report)), report.seconds);
}

}  // namespace hai::validator
