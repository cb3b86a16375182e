#pragma once
// Lists of jobs, page by page from the newest on, for those of a period of time: where to begin and
// when to stop, so that a day is found whole however many jobs came after it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/status.h"
#include "hai/v1/api.pb.h"

namespace hai::cli::slurm {

struct Period {
  int64_t start_us = 0;  // since 1970
  int64_t end_us = INT64_MAX;
};

// Whether a job was there in it: submitted before its end, and not ended before it began.
bool was_there(const Period& period, const v1::Job& job);

using ListJobs = std::function<Result<v1::ListJobsReply>(const v1::ListJobsRequest&)>;

// The cursor from which on no job is submitted at `end_us` or later, found by halves, for jobs are
// numbered in the order in which they are submitted. "" = from the newest.
Result<std::string> cursor_of(int64_t end_us, const v1::ListJobsRequest& request,
                              const ListJobs& list);

// Asks page after page and gives each job to `take`. With a period the pages begin with it; of the
// jobs that were submitted before it the server sends those that had not ended by then, and looks
// through a part of its history for a page: `most` is how many such pages are asked for. Without a
// period it is how many jobs. Returns what was not looked at, in words; "" = nothing.
Result<std::string> list_pages(v1::ListJobsRequest request, const std::optional<Period>& period,
                               size_t most, const ListJobs& list,
                               const std::function<void(const v1::Job&)>& take);

}  // namespace hai::cli::slurm
