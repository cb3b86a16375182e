#pragma once
// One part of an archive: which events, the two files they and their jobs go to, and what the
// database is told of them.

#include <cstdint>
#include <string>
#include <vector>

#include "common/id.h"
#include "common/status.h"
#include "server/store/pg_session.h"

namespace hai {

struct ArchivedFile {
  std::string name;  // without the folder
  std::string sha256;
  int64_t first_seq = 0;
  int64_t last_seq = 0;
  bool has_jobs = false;  // jobs, not events
  int64_t jobs = 0;       // in it
};

struct ArchivePart {
  ArchivedFile events;
  ArchivedFile jobs;
  std::vector<JobId> job_ids;
};

std::string partial_path(const std::string& dir, const ArchivedFile& file);
std::string final_path(const std::string& dir, const ArchivedFile& file);

struct PartRequest {
  std::string cluster;
  std::string dir;
  int64_t first_seq = 0;
  int64_t last_seq = 0;
};

// Writes both .partial files, reads them again and checks them. Throws PgError.
Result<ArchivePart> write_part(PgSession& session, const PartRequest& request);

// Whether the file is what its record says.
Status check_file(const std::string& path, const ArchivedFile& file);

// The ids of the jobs in a file of jobs.
Result<std::vector<JobId>> job_ids_of(const std::string& path);

}  // namespace hai
