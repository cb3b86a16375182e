#pragma once
// Which lines of the kernel's log tell of a fault, and of which check.

#include <optional>
#include <string>
#include <vector>

#include "agent/health/fault_rule.h"
#include "agent/health/line_pattern.h"

namespace hai {

class KernelTable {
 public:
  // The rows of deploy/health/kernel.csv.
  static Result<KernelTable> parse(std::string_view text);
  static KernelTable built_in();

  struct Match {
    std::string check;
    std::string subject;  // "" = the node
    const FaultRule* rule = nullptr;
  };
  // Of the first row that matches; none if the line tells of no fault.
  std::optional<Match> match(std::string_view line) const;
  // Each once, sorted.
  const std::vector<std::string>& checks() const { return checks_; }

 private:
  struct Row {
    std::string check;
    LinePattern pattern;
    FaultRule rule;
  };
  std::vector<Row> rows_;
  std::vector<std::string> checks_;
};

}  // namespace hai
