#include "agent/health/xid_table.h"

#include <algorithm>

#include "agent/health/built_in_tables.h"
#include "agent/health/file_values.h"
#include "common/whole_number.h"

namespace hai {

namespace {

enum XidColumn {
  kXidKind,
  kXidCode,
  kXidTier,
  kXidFollows,
  kXidRepeats,
  kXidRemedy,
  kXidMeaning,
  kXidColumns
};

Result<FaultRule> read_rule(const TableRow& row) {
  const std::optional<HealthTier> tier = parse_tier(row.fields[kXidTier]);
  if (!tier) return invalid_argument("line {}: no tier {}", row.line, row.fields[kXidTier]);
  FaultRule rule{.tier = *tier,
                 .remedy = row.fields[kXidRemedy],
                 .meaning = row.fields[kXidMeaning],
                 .follows = row.fields[kXidFollows] == "yes",
                 .repeats = {}};
  if (!row.fields[kXidRepeats].empty()) {
    const Result<RepeatRule> repeats = parse_repeat_rule(row.fields[kXidRepeats]);
    if (!repeats.is_ok()) {
      return invalid_argument("line {}: {}", row.line, repeats.status().message());
    }
    rule.repeats = repeats.value();
  }
  return rule;
}

}  // namespace

Result<XidTable> XidTable::parse(std::string_view text) {
  static const std::vector<std::string> kKinds = {"xid", "xid_nvswitch", "sxid", "sxid_fatal",
                                                  "sxid_nonfatal"};
  Result<std::vector<TableRow>> rows = parse_table(text, kXidColumns);
  if (!rows.is_ok()) return rows.status();
  XidTable table;
  for (const TableRow& row : rows.value()) {
    const std::string& kind = row.fields[kXidKind];
    if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
      return invalid_argument("line {}: no kind {}", row.line, kind);
    }
    const std::optional<int64_t> code =
        row.fields[kXidCode] == "*" ? kAnyCode : whole_number(row.fields[kXidCode]);
    if (!code || *code < kAnyCode) {
      return invalid_argument("line {}: no code {}", row.line, row.fields[kXidCode]);
    }
    Result<FaultRule> rule = read_rule(row);
    if (!rule.is_ok()) return rule.status();
    if (!table.rules_.emplace(std::pair(kind, *code), std::move(rule).value()).second) {
      return invalid_argument("line {}: {} {} is there twice", row.line, kind,
                              row.fields[kXidCode]);
    }
  }
  for (const char* kind : {"xid", "sxid"}) {
    if (table.find(kind, kAnyCode) == nullptr) return invalid_argument("no row for {} *", kind);
  }
  return table;
}

XidTable XidTable::built_in() { return parse(built_in_xid_table()).value(); }

const FaultRule* XidTable::find(const std::string& kind, int64_t code) const {
  const auto found = rules_.find({kind, code});
  return found == rules_.end() ? nullptr : &found->second;
}

const FaultRule& XidTable::rule_of(const XidLine& line, bool has_nvswitch) const {
  const std::string kind = line.kind == XidKind::xid ? "xid" : "sxid";
  std::vector<std::pair<std::string, int64_t>> order;
  if (line.kind == XidKind::xid && has_nvswitch) order.emplace_back("xid_nvswitch", line.code);
  order.emplace_back(kind, line.code);
  if (line.severity == XidSeverity::fatal) order.emplace_back("sxid_fatal", kAnyCode);
  if (line.severity == XidSeverity::nonfatal) order.emplace_back("sxid_nonfatal", kAnyCode);
  for (const auto& [name, code] : order) {
    if (const FaultRule* rule = find(name, code)) return *rule;
  }
  return *find(kind, kAnyCode);  // parse() made sure of it.
}

}  // namespace hai
