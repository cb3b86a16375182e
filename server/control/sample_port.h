#pragma once
// How the cluster was used, minute by minute: kept beside the state, because losing a minute of it
// harms nobody. Calls and callbacks happen on the loop's thread; callbacks never come from inside
// the call.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// What is counted, in the order of ClusterSample::values; the words are those of JSON and SQL.
inline constexpr std::array<std::string_view, 9> kSampleWords = {
    "gpus_total",  "gpus_used",    "gpus_free",   "gpus_reserved", "gpus_draining",
    "gpus_broken", "jobs_running", "jobs_queued", "jobs_suspended"};

struct ClusterSample {
  UnixTime at{};  // when its stretch of time begins
  std::array<double, kSampleWords.size()> values{};
  bool operator==(const ClusterSample&) const = default;
};

class SampleStore {
 public:
  virtual ~SampleStore() = default;
  // One per minute; the second one of a minute is ignored. What is older than `keep` goes.
  virtual void save(ClusterSample sample, Duration keep) = 0;
  // From `since` on, oldest first, averaged over stretches of `step`.
  virtual void load(UnixTime since, Duration step,
                    std::function<void(Result<std::vector<ClusterSample>>)> done) = 0;
};

}  // namespace hai
