#pragma once
// How far running jobs have come over time: a few points of each, thinned out as they grow, since
// the progress a program reports is kept nowhere else. Soft: a new leader begins anew. On the
// loop's thread.

#include <deque>
#include <map>
#include <vector>

#include "common/id.h"
#include "common/time.h"

namespace hai {

struct ProgressPoint {
  UnixTime at{};
  int64_t step = 0;
  bool operator==(const ProgressPoint&) const = default;
};

class ProgressBoard {
 public:
  static constexpr size_t kPointsMax = 120;  // of one job
  static constexpr size_t kJobsMax = 20'000;

  // All that is known now; a step that has not moved is no new point.
  void note(UnixTime now, const std::map<JobId, int64_t>& steps);
  std::vector<ProgressPoint> points(JobId job) const;
  size_t job_count() const { return jobs_.size(); }

 private:
  struct Line {
    std::vector<ProgressPoint> points;
    int every = 1;  // of the steps noted, how many make a point
    int skipped = 0;
  };
  void add(Line& line, ProgressPoint point);

  std::map<JobId, Line> jobs_;
  std::deque<JobId> order_;  // as they were first seen
};

}  // namespace hai
