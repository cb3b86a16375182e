#pragma once
// A finished job with all its attempts as lines of JSON, as archives keep it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "server/model/job.h"

namespace hai {

struct ArchivedJob {
  Job job;                       // with its latest attempt
  std::vector<Attempt> earlier;  // the ones before it, oldest first
};

std::string job_line(const ArchivedJob& archived);  // all of it, without the line's end
Result<ArchivedJob> job_from_line(std::string_view line);

inline constexpr size_t kJobLineBytes = 8 << 20;  // far from what a reader takes for a line

// Of a job with very many attempts, lines {"of":ID,"earlier":[...]} with the oldest of them go
// before the line with the job itself and the rest. A line ends with the attempt that reaches
// `bytes`.
std::vector<std::string> job_lines(const ArchivedJob& archived, size_t bytes = kJobLineBytes);

// Puts the jobs of a file together again, line by line.
class JobJoiner {
 public:
  // The job that is whole with this line, if one is.
  Result<std::optional<ArchivedJob>> add(std::string_view line);
  // At the end of the file: an error if a job's own line did not come.
  Status finish() const;

 private:
  JobId of_;  // whose attempts wait for it
  std::vector<Attempt> earlier_;
};

}  // namespace hai
