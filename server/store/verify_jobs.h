#pragma once
// The part of the ledger check about jobs and attempts. They come from the replay one by one, as
// soon as no event can change them any more, are compared with their rows (or with what is in the
// archive) a page at a time, and are forgotten.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/model/cluster_state.h"
#include "server/store/archive_files.h"
#include "server/store/pg_session.h"
#include "server/store/verify.h"

namespace hai {

using AttemptKey = std::pair<JobId, int>;

class JobCheck {
 public:
  JobCheck(PgSession& session, const ArchivedJobs& archived, LedgerReport& report)
      : session_(session), archived_(archived), report_(report) {}

  // All of these throw PgError.
  void add(Job job);
  void add(ReplacedAttempt replaced);
  // The last pages, and rows that no event made.
  void finish(JobId last_job);

 private:
  static constexpr size_t kPage = 1'000;

  void check_jobs();
  void check_attempts();
  void check_strays(JobId last_job);
  void check_job(const Job& job, const Job* row);
  void count(const Attempt& attempt);

  PgSession& session_;
  const ArchivedJobs& archived_;
  LedgerReport& report_;
  std::map<JobId, Job> jobs_;
  std::map<AttemptKey, Attempt> attempts_;
};

// The attempts of these keys that have rows, with their ranks.
std::map<AttemptKey, Attempt> load_attempts_of(PgSession& session,
                                               const std::vector<AttemptKey>& keys);

}  // namespace hai
