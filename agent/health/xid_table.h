#pragma once
// The Xid table: code → what it means, what it is worth, what helps.

#include <map>
#include <string>
#include <utility>

#include "agent/health/fault_rule.h"
#include "agent/health/xid_line.h"

namespace hai {

class XidTable {
 public:
  // The rows of deploy/health/xid.csv.
  static Result<XidTable> parse(std::string_view text);
  static XidTable built_in();

  // There is a rule for every line. Nodes with NVSwitches take some Xids otherwise.
  const FaultRule& rule_of(const XidLine& line, bool has_nvswitch) const;

  static constexpr int64_t kAnyCode = -1;

 private:
  const FaultRule* find(const std::string& kind, int64_t code) const;
  std::map<std::pair<std::string, int64_t>, FaultRule> rules_;  // (kind, code)
};

}  // namespace hai
