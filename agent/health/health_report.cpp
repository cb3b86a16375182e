#include "agent/health/health_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace hai {

namespace {

using Row = std::array<std::string, 5>;

Row to_row(const CheckResult& result) {
  return {result.name, result.subject.empty() ? "-" : result.subject,
          std::string(to_string(result.verdict)),
          result.verdict == CheckVerdict::fail ? std::string(to_string(result.tier)) : "-",
          result.summary};
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

bool speaks_against_node(const CheckResult& result) {
  return result.verdict == CheckVerdict::fail && result.tier >= HealthTier::validate;
}

}  // namespace

std::string format_health_table(const std::vector<CheckResult>& results) {
  std::vector<Row> rows = {{"CHECK", "OF", "STATE", "TIER", "TEXT"}};
  for (const CheckResult& result : results) rows.push_back(to_row(result));
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) text += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += row.back() + "\n";
  }
  return text;
}

std::string format_health_json(const std::vector<CheckResult>& results) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CheckResult& result : results) {
    list.push_back({{"name", result.name},
                    {"subject", result.subject},
                    {"state", to_string(result.verdict)},
                    {"tier", to_string(result.tier)},
                    {"text", result.summary},
                    {"evidence", or_null(result.evidence)},
                    {"gpus", to_string(result.gpus)},
                    {"at", format_rfc3339(result.at)}});
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool is_fit(const std::vector<CheckResult>& results) {
  return std::none_of(results.begin(), results.end(), speaks_against_node);
}

std::string format_fitness(const std::vector<CheckResult>& results) {
  std::vector<std::string> faults;
  for (const CheckResult& result : results) {
    if (!speaks_against_node(result)) continue;
    faults.push_back(result.subject.empty() ? result.name
                                            : fmt::format("{} of {}", result.name, result.subject));
  }
  if (faults.empty()) return "fit for jobs: nothing fails of tier validate, drain or evict";
  return fmt::format("not fit for jobs: {}", fmt::join(faults, ", "));
}

}  // namespace hai
