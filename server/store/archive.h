#pragma once
// Moves the oldest part of the history out of the tables and into files, beside a server at work:
// a beginning of the event log, and the jobs that ended in it with all their attempts. Rows go only
// when the files are on disk, have been read again, and are recorded in table `archive`:
//
//   write NAME.partial ─▶ fsync ─▶ read and check ─▶ record ─▶ rename to NAME ─▶ delete rows
//
// Old entries of the audit log go into files of their own (audit_archive.h).
//
// A run that dies anywhere loses nothing, and the next one goes on from there. The server's appends
// wait for none of it: each transaction deletes a few rows that nobody writes any more.

#include <cstdint>
#include <functional>
#include <string>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct ArchiveOptions {
  std::string cluster;
  std::string dir;
  UnixTime older_than{};           // only events before it, up to the first that is not
  int64_t keep_events = 10'000;    // the newest ones stay, however old
  int64_t part_events = 500'000;   // in one file
  UnixTime audit_older_than{};     // entries of the audit log, up to the first that is not
  int64_t part_entries = 100'000;  // of the audit log in one file
  bool audit_as_it_is = false;     // also entries whose chain is broken
  int rows_per_delete = 1'000;
  bool dry_run = false;
  std::function<void(int64_t done, int64_t total)> progress;  // events
  // Called between any two steps; tests die there.
  std::function<void(const char* step)> between_steps;
};

struct ArchiveResult {
  int64_t first_seq = 0;  // 0: nothing was old enough
  int64_t last_seq = 0;
  int64_t events = 0;
  int64_t jobs = 0;
  int64_t files = 0;        // of events and jobs
  int64_t first_audit = 0;  // 0: no entry was old enough
  int64_t last_audit = 0;
  int64_t audit_files = 0;
  bool completed_earlier = false;  // an earlier run had died before its rows were gone
};

// Where the events can't be archived, the audit log is all the same, and the run fails.
// `failed_precondition` while another run is under way; `data_loss` if a file is not what was
// written.
Result<ArchiveResult> archive_ledger(const std::string& conninfo, const ArchiveOptions& options);

}  // namespace hai
