#pragma once
// What a fault in the kernel's log is worth. Rules are data: deploy/health/*.csv, built in and
// replaceable.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/health.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

// Worth `tier` when seen `count` times within `within`.
struct RepeatRule {
  int64_t count = 0;
  Duration within{0};
  HealthTier tier = HealthTier::log;
  bool operator==(const RepeatRule&) const = default;
};

struct FaultRule {
  HealthTier tier = HealthTier::validate;
  std::string remedy;
  std::string meaning;
  bool follows = false;  // tells nothing new soon after another fault of the same thing
  std::optional<RepeatRule> repeats;
  bool operator==(const FaultRule&) const = default;
};

std::optional<HealthTier> parse_tier(std::string_view word);
// "2/7d:drain"
Result<RepeatRule> parse_repeat_rule(std::string_view text);

// The rows of a table: no comments, no header; exactly `columns` fields, of which only the last may
// hold commas.
struct TableRow {
  int line = 0;
  std::vector<std::string> fields;
};
Result<std::vector<TableRow>> parse_table(std::string_view text, size_t columns);

}  // namespace hai
