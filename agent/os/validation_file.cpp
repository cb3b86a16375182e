#include "agent/os/validation_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace hai {

namespace {

using Json = nlohmann::json;

Measurement measurement_from(const Json& json) {
  Measurement out;
  out.test = json.at("name").get<std::string>();
  out.metric = json.at("metric").get<std::string>();
  out.unit = json.at("unit").get<std::string>();
  if (json.at("value").is_number()) out.value = json["value"].get<double>();
  if (!std::isfinite(out.value)) out.value = 0;
  out.higher_is_better = json.at("higher_is_better").get<bool>();
  const std::string verdict = json.at("verdict").get<std::string>();
  out.verdict = verdict == "ok"     ? CheckVerdict::ok
                : verdict == "fail" ? CheckVerdict::fail
                                    : CheckVerdict::unknown;
  out.detail = json.at("detail").get<std::string>();
  return out;
}

}  // namespace

Result<std::vector<Measurement>> measurements_from_json(std::string_view text) {
  try {
    std::vector<Measurement> measurements;
    const Json report = Json::parse(text);
    const bool is_quick = report.value("profile", "") == "quick";
    for (const Json& test : report.at("tests")) {
      if (measurements.size() >= kMeasurementsMax) break;
      measurements.push_back(measurement_from(test));
      // What a second measures is not to be compared with what a minute does.
      if (is_quick) measurements.back().test.insert(0, "quick_");
    }
    return measurements;
  } catch (const std::exception& error) {
    return invalid_argument("not a report of hai-validator: {}", error.what());
  }
}

}  // namespace hai
