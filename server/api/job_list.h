#pragma once
// Which jobs a list shows and in what order. Lists of what is in memory look at it in slices, so
// that a hundred thousand jobs hold up nobody; a job that changes meanwhile is seen once, as it was
// or as it is.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/api/sights.h"
#include "server/api/source.h"
#include "server/control/engine/controller.h"

namespace hai {

inline constexpr int kPageDefault = 100;
inline constexpr int kPageMax = 1'000;

enum class JobOrderBy { id, name, user, group, priority, state, nodes, submitted, started, lost };
struct JobOrder {
  JobOrderBy by = JobOrderBy::id;
  bool descending = true;
  bool is_newest_first() const { return by == JobOrderBy::id && descending; }
};
// "submitted_at", "-priority": a leading minus means descending.
Result<JobOrder> parse_job_order(std::string_view text);

// Where a job stands in its order; no two jobs stand at the same place.
struct JobPlace {
  int64_t number = 0;
  std::string text;
  JobId id;
  auto operator<=>(const JobPlace&) const = default;
};
JobPlace place_of(const Job& job, JobOrderBy by);
// As a cursor, and back.
std::string format_place(const JobPlace& place);
Result<JobPlace> parse_place(std::string_view cursor);

struct JobListRequest {
  std::vector<JobState> states;  // empty = any
  std::string user;              // "" = everybody's
  bool only_mine = false;        // the caller's; not `user`
  std::string group;
  std::vector<std::string> tags;     // all of them
  bool include_finished = false;     // without it, finished ones only as far as `states` names them
  std::vector<Priority> priorities;  // empty = any
  std::vector<std::string> reasons;  // words of why a job waits; empty = any, and no reason too
  bool tasks = false;                // tasks of arrays, too
  JobId array;                       // only the tasks of this one; none = any job
  std::optional<UnixTime> ended_since;  // finished ones only if they ended then or later
  std::string text;                     // in its name, its user, a tag, or its id; any case
  JobOrder order;
  JobId before;                   // only older ones; none = from the newest
  std::optional<JobPlace> after;  // of an order that is not by id: where the page before ended
  bool count_all = false;         // of all pages; not with finished ones
  int limit = kPageDefault;       // 1 .. kPageMax
};
struct JobPage {
  std::vector<JobView> jobs;      // newest first, or as ordered
  JobId next;                     // `before` of the next page; none = the last page
  std::optional<JobPlace> after;  // `after` of the next page
  std::optional<int64_t> total;
};

// Whether the list shows it, but for `reasons`. `user` is whose jobs are asked for, "" = anybody's.
// Whoever sees no more than a row does not find it by its tags.
bool matches(const Job& job, const JobListRequest& request, const std::string& user,
             const Sight& sight);
bool wants_finished(const JobListRequest& request);
// As much of it as is seen.
JobView visible_view(JobView view, const Sight& sight);

// From memory alone. On the loop's thread.
void scan_jobs(Controller& controller, const Caller& caller, JobListRequest request,
               const Sights& sights, Done<JobPage> done);

}  // namespace hai
