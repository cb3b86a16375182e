#pragma once
// A finished job with all its attempts as one line of JSON, as archives keep it.

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

std::string job_line(const ArchivedJob& archived);  // without the line's end
Result<ArchivedJob> job_from_line(std::string_view line);

}  // namespace hai
