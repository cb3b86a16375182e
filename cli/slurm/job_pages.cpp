#include "cli/slurm/job_pages.h"

#include <fmt/core.h>

namespace hai::cli::slurm {
namespace {

// The newest job below a cursor; a page may come out short of what the store cannot filter.
Result<std::optional<v1::Job>> newest_below(std::string cursor, v1::ListJobsRequest request,
                                            const ListJobs& list) {
  request.set_page_size(1);
  do {
    request.set_cursor(cursor);
    const Result<v1::ListJobsReply> page = list(request);
    RETURN_IF_ERROR(page.status());
    if (page.value().jobs_size() > 0) return std::optional(page.value().jobs(0));
    cursor = page.value().next_cursor();
  } while (!cursor.empty());
  return std::optional<v1::Job>();
}

}  // namespace

bool was_there(const Period& period, const v1::Job& job) {
  const bool ended_before = job.has_ended_at_us() && job.ended_at_us() < period.start_us;
  return !ended_before && job.submitted_at_us() < period.end_us;
}

Result<std::string> cursor_of(int64_t end_us, const v1::ListJobsRequest& request,
                              const ListJobs& list) {
  const Result<std::optional<v1::Job>> newest = newest_below("", request, list);
  RETURN_IF_ERROR(newest.status());
  if (!newest.value() || newest.value()->submitted_at_us() < end_us) return std::string();
  // Nothing below `low` is too late; the job `high` is.
  int64_t low = 1;
  int64_t high = newest.value()->id();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const Result<std::optional<v1::Job>> job =
        newest_below(std::to_string(middle + 1), request, list);
    RETURN_IF_ERROR(job.status());
    if (job.value() && job.value()->submitted_at_us() >= end_us) {
      high = job.value()->id();
    } else {
      low = middle + 1;
    }
  }
  return std::to_string(high);
}

Result<std::string> list_pages(v1::ListJobsRequest request, const std::optional<Period>& period,
                               size_t most, const ListJobs& list,
                               const std::function<void(const v1::Job&)>& take) {
  int64_t first = 0;  // that was submitted in the period
  if (period) {
    const Result<std::string> start = cursor_of(period->start_us, request, list);
    RETURN_IF_ERROR(start.status());
    first = start.value().empty() ? INT64_MAX : std::stoll(start.value());
    Result<std::string> cursor = cursor_of(period->end_us, request, list);
    RETURN_IF_ERROR(cursor.status());
    request.set_cursor(cursor.value());
    if (period->start_us > 0) request.set_ended_since_us(period->start_us);
  }
  size_t looked = 0;  // pages before the period; without one, jobs
  do {
    const bool is_older = !request.cursor().empty() && std::stoll(request.cursor()) <= first;
    const Result<v1::ListJobsReply> page = list(request);
    RETURN_IF_ERROR(page.status());
    for (const v1::Job& job : page.value().jobs()) {
      if (!period || was_there(*period, job)) take(job);
    }
    looked += period ? (is_older ? 1 : 0) : static_cast<size_t>(page.value().jobs_size());
    request.set_cursor(page.value().next_cursor());
  } while (!request.cursor().empty() && looked < most);
  if (request.cursor().empty()) return std::string();
  return period ? fmt::format("of jobs submitted before it only those from {} on were looked at",
                              request.cursor())
                : fmt::format("only the newest {} jobs were looked at", looked);
}

}  // namespace hai::cli::slurm
