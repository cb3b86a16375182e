#include "agent/health/kernel_table.h"

#include <algorithm>

#include "agent/health/built_in_tables.h"

namespace hai {

namespace {
enum Column { kCheck, kTier, kRemedy, kPattern, kMeaning, kColumns };
constexpr const char* kNone = "-";  // a line that looks like others and tells of nothing
}  // namespace

Result<KernelTable> KernelTable::parse(std::string_view text) {
  Result<std::vector<TableRow>> rows = parse_table(text, kColumns);
  if (!rows.is_ok()) return rows.status();
  KernelTable table;
  for (const TableRow& row : rows.value()) {
    const std::optional<HealthTier> tier = parse_tier(row.fields[kTier]);
    if (!tier) return invalid_argument("line {}: no tier {}", row.line, row.fields[kTier]);
    if (row.fields[kCheck].empty() || row.fields[kPattern].empty()) {
      return invalid_argument("line {}: no check or no pattern", row.line);
    }
    table.rows_.push_back({.check = row.fields[kCheck],
                           .pattern = LinePattern(row.fields[kPattern]),
                           .rule = {.tier = *tier,
                                    .remedy = row.fields[kRemedy],
                                    .meaning = row.fields[kMeaning],
                                    .follows = false,
                                    .repeats = {}}});
    if (row.fields[kCheck] != kNone) table.checks_.push_back(row.fields[kCheck]);
  }
  std::sort(table.checks_.begin(), table.checks_.end());
  table.checks_.erase(std::unique(table.checks_.begin(), table.checks_.end()), table.checks_.end());
  return table;
}

KernelTable KernelTable::built_in() { return parse(built_in_kernel_table()).value(); }

std::optional<KernelTable::Match> KernelTable::match(std::string_view line) const {
  for (const Row& row : rows_) {
    std::optional<std::string> word = row.pattern.match(line);
    if (!word) continue;
    if (row.check == kNone) return std::nullopt;
    while (!word->empty() && std::string_view(",:;.").find(word->back()) != std::string::npos)
      word->pop_back();
    return Match{.check = row.check, .subject = std::move(*word), .rule = &row.rule};
  }
  return std::nullopt;
}

}  // namespace hai
