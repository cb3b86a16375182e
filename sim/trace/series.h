#pragma once
// What the cluster did over time, as means over equal intervals. The interval doubles when there
// are too many, so that a series of any length stays small.

#include <cstdint>
#include <vector>

#include "common/time.h"

namespace hai {

// Integrals over an interval, in GPU- or job-microseconds.
struct SeriesPoint {
  double given = 0;    // GPUs of jobs that stand on nodes
  double healthy = 0;  // GPUs of nodes that take jobs
  double waiting = 0;  // GPUs that waiting jobs ask for
  double queue = 0;    // waiting jobs
};

class Series {
 public:
  // Levels that held over [from, from + length), to be told in order of time.
  void add(Duration from, Duration length, const SeriesPoint& level) {
    while (length > Duration{0}) {
      auto index = static_cast<size_t>(from / interval_);
      if (index >= kPointsMax) {
        merge_pairs();
        continue;
      }
      if (points_.size() <= index) points_.resize(index + 1);
      Duration part = std::min(length, static_cast<int64_t>(index + 1) * interval_ - from);
      auto weight = static_cast<double>(part.count());
      SeriesPoint& point = points_[index];
      point.given += level.given * weight;
      point.healthy += level.healthy * weight;
      point.waiting += level.waiting * weight;
      point.queue += level.queue * weight;
      from += part;
      length -= part;
    }
  }

  Duration interval() const { return interval_; }
  const std::vector<SeriesPoint>& points() const { return points_; }

 private:
  static constexpr size_t kPointsMax = 4'096;

  void merge_pairs() {
    for (size_t i = 0; i < points_.size(); i += 2) {
      SeriesPoint sum = points_[i];
      if (i + 1 < points_.size()) {
        const SeriesPoint& next = points_[i + 1];
        sum = {sum.given + next.given, sum.healthy + next.healthy, sum.waiting + next.waiting,
               sum.queue + next.queue};
      }
      points_[i / 2] = sum;
    }
    points_.resize((points_.size() + 1) / 2);
    interval_ *= 2;
  }

  Duration interval_ = 60s;
  std::vector<SeriesPoint> points_;
};

}  // namespace hai
