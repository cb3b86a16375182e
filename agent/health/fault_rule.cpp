#include "agent/health/fault_rule.h"

#include "agent/health/file_values.h"
#include "common/whole_number.h"

namespace hai {

namespace {
constexpr size_t kRowsMax = 2'000;
}  // namespace

std::optional<HealthTier> parse_tier(std::string_view word) {
  for (const HealthTier tier : {HealthTier::log, HealthTier::app, HealthTier::validate,
                                HealthTier::drain, HealthTier::evict}) {
    if (to_string(tier) == word) return tier;
  }
  return std::nullopt;
}

Result<RepeatRule> parse_repeat_rule(std::string_view text) {
  const size_t slash = text.find('/');
  const size_t colon = text.find(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos || colon < slash) {
    return invalid_argument("repeats must be COUNT/DURATION:TIER, is {}", text);
  }
  const std::optional<int64_t> count = whole_number(text.substr(0, slash));
  const Result<Duration> within = parse_duration(text.substr(slash + 1, colon - slash - 1));
  const std::optional<HealthTier> tier = parse_tier(text.substr(colon + 1));
  if (!count || *count < 2 || *count > 16 || !within.is_ok() || !tier) {
    return invalid_argument("repeats must be COUNT/DURATION:TIER, for example 2/7d:drain, is {}",
                            text);
  }
  return RepeatRule{.count = *count, .within = within.value(), .tier = *tier};
}

Result<std::vector<TableRow>> parse_table(std::string_view text, size_t columns) {
  std::vector<TableRow> rows;
  bool is_header = true;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (std::exchange(is_header, false)) continue;
    if (rows.size() >= kRowsMax) return invalid_argument("more than {} rows", kRowsMax);
    TableRow row{.line = number, .fields = {}};
    while (row.fields.size() + 1 < columns) {
      const size_t comma = line.find(',');
      if (comma == std::string_view::npos) {
        return invalid_argument("line {}: {} fields, must be {}", number, row.fields.size() + 1,
                                columns);
      }
      row.fields.emplace_back(trimmed(line.substr(0, comma)));
      line.remove_prefix(comma + 1);
    }
    row.fields.emplace_back(trimmed(line));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hai
