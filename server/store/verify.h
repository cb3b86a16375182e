#pragma once
// The ledger check: the event log replayed from the beginning must give exactly the rows. Blocks
// and reads the whole history: for tests and for operators, not for a server at work.

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

struct LedgerReport {
  int64_t events = 0;
  int64_t jobs = 0;
  // One sentence per difference, at most kLedgerDifferencesMax; empty = the ledger is right.
  std::vector<std::string> differences;
};
inline constexpr size_t kLedgerDifferencesMax = 100;

Result<LedgerReport> verify_ledger(const std::string& conninfo);

}  // namespace hai
