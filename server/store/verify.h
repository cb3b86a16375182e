#pragma once
// The ledger check: the event log, replayed from the beginning, must give exactly the rows, and the
// state that a server at work has in memory. Blocks and reads the whole history in one snapshot, in
// pages: its memory follows what is alive, not what has been. For tests and for operators.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

// What a leader says of itself: the digest of its state after event `seq`.
struct LiveDigest {
  int64_t seq = 0;
  std::string digest;
};

struct LedgerReport {
  int64_t events = 0;
  int64_t archived_events = 0;  // of these, how many came from files
  int64_t last_seq = 0;
  int64_t jobs = 0;
  int64_t archived_jobs = 0;
  int64_t attempts = 0;
  int64_t ranks = 0;
  int64_t nodes = 0;
  int64_t users = 0;
  int64_t quotas = 0;
  int64_t tokens = 0;
  int64_t secrets = 0;
  int64_t identities = 0;
  int64_t knobs = 0;
  int64_t incidents = 0;
  int64_t audit_entries = 0;           // whose chain was gone through
  int64_t archived_audit_entries = 0;  // of these, how many came from files
  int64_t unread_audit_entries = 0;    // archived ones, where no archive was given
  std::string digest;                  // of the state after the last event
  // Of the folder of the archive, by name, if the database knows nothing of them.
  std::vector<std::string> foreign_files;
  bool live_compared = false;
  // One sentence per difference, at most kLedgerDifferencesMax; empty = the ledger is right.
  std::vector<std::string> differences;
  int64_t difference_count = 0;

  void differ(std::string sentence);
};
inline constexpr size_t kLedgerDifferencesMax = 100;

struct VerifyOptions {
  std::string archive_dir;  // where archived parts are; "" = the event log must be whole
  std::optional<LiveDigest> live;
  // Called after each page with how many events have been replayed, of how many.
  std::function<void(int64_t done, int64_t total)> progress;
};

// `data_loss` for a log that can't be replayed to its end, `failed_precondition` if its beginning
// is in an archive that was not given.
Result<LedgerReport> verify_ledger(const std::string& conninfo, const VerifyOptions& options = {});

}  // namespace hai
