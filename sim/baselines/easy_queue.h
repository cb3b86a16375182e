#pragma once
// The waiting jobs of one shape, in submit order, with how long each will take: finds the oldest
// that takes no longer than a limit.

#include <algorithm>
#include <optional>
#include <vector>

#include "common/id.h"
#include "common/time.h"
#include "sim/baselines/first_within.h"

namespace hai {

class EasyQueue {
 public:
  // Ids come in growing order the first time; later a job may leave and come back.
  void add(JobId id, Duration time_left) { times_.set(place_of(id), time_left.count()); }
  void remove(JobId id) { times_.clear(place_of(id)); }
  std::optional<JobId> first() const { return first_within(Duration(FirstWithin::kNone - 1)); }
  std::optional<JobId> first_within(Duration limit) const {
    auto place = times_.find(limit.count());
    return place ? std::optional(ids_[*place]) : std::nullopt;
  }

 private:
  size_t place_of(JobId id) {
    if (ids_.empty() || ids_.back() < id) {
      ids_.push_back(id);
      return ids_.size() - 1;
    }
    return static_cast<size_t>(std::ranges::lower_bound(ids_, id) - ids_.begin());
  }

  std::vector<JobId> ids_;
  FirstWithin times_;
};

}  // namespace hai
