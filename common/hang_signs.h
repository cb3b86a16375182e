#pragma once
// Does a rank hang? Pure: from what its agent saw of it. A single sign proves nothing (a program
// may print nothing for an hour and compute, or load data for an hour while its GPUs idle), so a
// verdict needs signs of two sources that don't follow from each other.
//
//   source   sign           stands when, for all of `patience`
//   words    no_progress    the program, which has reported progress before, reports none
//            silent_log     a program that never reports progress prints nothing
//   gpu      gpu_idle       its GPUs do next to nothing. That they are busy proves nothing: a rank
//                           that waits in a collective shows 100 %
//   network  network_quiet  its ports receive next to nothing, and did before in this attempt
//   cpu      cpu_idle       its processes use next to no CPU time

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace hai {

// What was seen at one moment; counters grow. What is not known is absent.
struct ActivitySample {
  MonoTime at{};
  std::optional<int> gpu_utilization_percent;  // of the busiest of the rank's GPUs
  std::optional<int64_t> received_bytes;       // of the node's ports; only of jobs of several nodes
  std::optional<Duration> cpu_time;            // of all the rank's processes
};

struct RankActivity {
  MonoTime started_at{};
  std::optional<MonoTime> progress_at;  // of the latest report of progress
  std::optional<MonoTime> log_at;       // of the latest byte of its log
  std::vector<ActivitySample> samples;  // in order; of at least `patience`, a few a minute
};

struct HangLimits {
  Duration patience{30min};  // the job's watchdog; 0 = it never hangs
  int gpu_idle_percent = 5;
  int64_t quiet_bytes_per_second = 1'000'000;
  double cpu_idle_cores = 0.01;
  int samples_min = 3;  // within `patience`: two moments are no trend
};

enum class HangSource { words, gpu, network, cpu };
enum class HangSignKind { no_progress, silent_log, gpu_idle, network_quiet, cpu_idle };
std::string_view to_string(HangSignKind kind);
HangSource source_of(HangSignKind kind);

struct HangSign {
  HangSignKind kind = HangSignKind::silent_log;
  MonoTime since{};
  std::string text;  // with the numbers
};

// In the order of HangSignKind; each stands at `now`.
std::vector<HangSign> hang_signs(const RankActivity& rank, const HangLimits& limits, MonoTime now);

// How much history of samples is needed: drop what is older, but one.
void forget_old_samples(RankActivity& rank, const HangLimits& limits, MonoTime now);

// The last that is known of each rank of a job that hangs.
struct RankLastSeen {
  int rank = 0;
  std::optional<int64_t> progress_step;
  std::optional<UnixTime> last_word_at;  // progress or log, whichever came later
  std::optional<int> gpu_utilization_percent;
};

struct HangSuspect {
  int rank = 0;
  std::string why;
};

// The rank that stopped first: the others wait for it. None where the ranks don't differ enough to
// name one; to name a healthy node is worse than to name none.
std::optional<HangSuspect> find_hang_suspect(const std::vector<RankLastSeen>& ranks);

}  // namespace hai
