#pragma once
// What an archive's folder holds: pairs of files, CLUSTER-FIRST-LAST.jsonl.gz with events and
// CLUSTER-FIRST-LAST-jobs.jsonl.gz with the finished jobs that left the tables with them; and files
// CLUSTER-FIRST-LAST-audit.jsonl.gz with entries of the audit log.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/status.h"
#include "server/store/job_line.h"

namespace hai {

inline Status data_loss(std::string text) { return Status(Code::data_loss, std::move(text)); }

struct ArchiveFile {
  std::string path;
  int64_t first_seq = 0;
  int64_t last_seq = 0;
  bool has_jobs = false;  // jobs, not events
};

// All of events and jobs that are in `dir`, by first_seq; others' files are passed over.
Result<std::vector<ArchiveFile>> find_archive_files(const std::string& dir);

std::string events_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq);
std::string audit_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq);
std::string jobs_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq);

// The name that a .partial file of this cluster gets; none for every other file, also for those of
// a cluster whose name begins with this one's.
std::optional<std::string> name_of_partial(std::string_view cluster, std::string_view name);

// Calls `take` with each job of a file of jobs; `data_loss` if it is not one as a whole.
Status read_jobs(const std::string& path, const std::function<void(const ArchivedJob&)>& take);

// SHA-256 of a file, hex.
Result<std::string> sha256_of_file(const std::string& path);

// What archived jobs were, without keeping them: 24 bytes for each job and each earlier attempt.
class ArchivedJobs {
 public:
  Status add_file(const std::string& path);
  void sort();

  int64_t jobs() const { return jobs_; }
  bool has(JobId job) const { return find(job, 0) != nullptr; }
  bool holds(const Job& job) const;  // exactly this, with its latest attempt
  bool holds(JobId job, const Attempt& earlier) const;

 private:
  struct Entry {
    JobId job;
    int earlier = 0;  // an attempt's number; 0 = the job itself
    uint64_t hash = 0;
  };
  const Entry* find(JobId job, int earlier) const;

  std::vector<Entry> entries_;
  int64_t jobs_ = 0;
};

}  // namespace hai
