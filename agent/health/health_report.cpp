#include "agent/health/health_report.h"

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

}  // namespace

std::string format_health_table(const std::vector<CheckResult>& results) {
  std::vector<Row> rows = {{"NAME", "SUBJECT", "VERDICT", "TIER", "SUMMARY"}};
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
                    {"verdict", to_string(result.verdict)},
                    {"tier", to_string(result.tier)},
                    {"summary", result.summary},
                    {"evidence", result.evidence},
                    {"gpus", to_string(result.gpus)},
                    {"at", format_rfc3339(result.at)}});
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool has_failure(const std::vector<CheckResult>& results) {
  return std::any_of(results.begin(), results.end(), [](const CheckResult& result) {
    return result.verdict == CheckVerdict::fail;
  });
}

}  // namespace hai
