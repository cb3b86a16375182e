#pragma once
// What happened hour by hour, kept in the store for a year: between the server's interfaces and its
// database. Calls and callbacks happen on the loop's thread; callbacks never come from inside the
// call.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// Of all GPUs by what they did, in GPU-seconds; in the order of the words of cluster_sample.
inline constexpr std::array<std::string_view, 6> kHourGpuWords = {
    "total_gpu_seconds",    "used_gpu_seconds",     "free_gpu_seconds",
    "reserved_gpu_seconds", "draining_gpu_seconds", "broken_gpu_seconds"};
// What is counted; the words are those of SQL and JSON.
inline constexpr std::array<std::string_view, 10> kHourCountWords = {
    "submitted", "succeeded",  "failed",        "stopped",           "preemptions",
    "faults",    "nodes_lost", "checks_failed", "ended_gpu_seconds", "lost_gpu_seconds"};

// One step of a report.
struct HourRow {
  UnixTime at{};                                                         // when it begins
  std::optional<std::array<int64_t, kHourGpuWords.size()>> gpu_seconds;  // absent: nothing sampled
  std::array<int64_t, kHourCountWords.size()> counts{};
  int64_t waits = 0;                           // that ended
  std::optional<Duration> wait_p50, wait_p90;  // within 8 %
  bool operator==(const HourRow&) const = default;
};

struct HourReport {
  std::vector<HourRow> rows;           // oldest first; steps in which nothing was kept are left out
  std::optional<UnixTime> counted_to;  // the last event that is in there
  std::optional<UnixTime> kept_from;   // the oldest hour
};

class HourStore {
 public:
  virtual ~HourStore() = default;
  // Counts the next events, at most some ten thousand, and forgets hours older than `keep`: each
  // event once, whichever server asks and however often. True if more are left.
  virtual void count(Duration keep, std::function<void(Result<bool>)> done) = 0;
  // Of [since, until), in steps of whole hours that begin with hours, days (UTC) or Mondays.
  virtual void report(UnixTime since, UnixTime until, Duration step,
                      std::function<void(Result<HourReport>)> done) = 0;
};

}  // namespace hai
