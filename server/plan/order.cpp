#include "server/plan/order.h"

#include <algorithm>
#include <bit>

#include "server/plan/cost.h"

namespace hai {
namespace {

int64_t whole_seconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

int feedback_class(const Knobs& knobs, int64_t gpu_seconds) {
  if (knobs.policy == Policy::fifo) return 0;
  const int64_t base = std::max<int64_t>(1, whole_seconds_of(knobs.feedback_base));
  const uint64_t ratio = static_cast<uint64_t>(std::max<int64_t>(0, gpu_seconds) / base);
  return std::min(kClassMax, static_cast<int>(std::bit_width(ratio)));
}

int64_t class_end(const Knobs& knobs, int feedback_class) {
  const int64_t base = std::max<int64_t>(1, whole_seconds_of(knobs.feedback_base));
  return base << std::clamp(feedback_class, 0, kClassMax);
}

int64_t decayed(const GpuUsage& usage, UnixTime now, Duration half_life) {
  if (now <= usage.at || usage.gpu_seconds == 0) return usage.gpu_seconds;
  const int64_t elapsed = Duration(now - usage.at).count();
  const int64_t halvings = elapsed / half_life.count();
  if (halvings >= 62) return 0;
  // 2^-f for 0 <= f < 1 as a parabola through both ends, within 0.3 %; in units of 2^-20.
  constexpr int64_t kOne = 1 << 20;
  const auto fraction = static_cast<int64_t>(static_cast<__int128>(elapsed % half_life.count()) *
                                             kOne / half_life.count());
  constexpr int64_t kLinear = 702'441;     // 0.6699
  constexpr int64_t kQuadratic = 178'153;  // 0.6699 − 0.5
  const int64_t factor =
      kOne - fraction * kLinear / kOne + fraction * fraction / kOne * kQuadratic / kOne;
  return static_cast<int64_t>(static_cast<__int128>(usage.gpu_seconds >> halvings) * factor / kOne);
}

static int count_gpus(auto&& ranks) {
  int gpus = 0;
  for (const Rank& rank : ranks) gpus += rank.place.gpus.count();
  return gpus;
}

int gpus_of(const Attempt& attempt) { return count_gpus(attempt.holding_ranks()); }

int gpus_placed(const Attempt& attempt) { return count_gpus(attempt.ranks); }

// Whole ones that its live attempt has run with all ranks.
static int64_t seconds_run(const Job& job, UnixTime now) {
  if (!job.has_live_attempt() || !job.attempt->running_at) return 0;
  return whole_seconds_of(std::max(Duration{0}, Duration(now - *job.attempt->running_at)));
}

int64_t gpu_seconds_had(const Job& job, const Rank& rank, UnixTime now) {
  return rank.place.gpus.count() * seconds_run(job, now);
}

int64_t gpu_seconds_had(const Job& job, UnixTime now) {
  const int64_t seconds = seconds_run(job, now);
  return job.gpu_seconds + (seconds == 0 ? 0 : gpus_of(*job.attempt) * seconds);
}

Duration ran_for(const Job& job, UnixTime now) {
  if (!job.attempt) return Duration{0};
  const int gpus = std::max(1, gpus_placed(*job.attempt));
  return std::chrono::seconds(gpu_seconds_had(job, now) / gpus);
}

UnixTime waiting_since(const Job& job) {
  // Rows of a version that did not keep it have none.
  UnixTime since = std::max(job.waiting_since, job.submitted_at);
  return job.spec->begin_at ? std::max(since, *job.spec->begin_at) : since;
}

Priority order_level(const Knobs& knobs, const Job& job, Priority level, UnixTime now) {
  if (level != Priority::above_normal) return level;
  return ran_for(job, now) >= knobs.above_normal_lasts ? Priority::normal : level;
}

// As ran_for() counts: by the GPUs the attempt was given, of which it may hold less by now.
UnixTime above_normal_until(const Knobs& knobs, const Job& job) {
  const Attempt& attempt = *job.attempt;
  const int64_t lasts = std::chrono::ceil<std::chrono::seconds>(knobs.above_normal_lasts).count();
  const int64_t gpus = std::max(1, gpus_of(attempt));
  const int64_t left = lasts * std::max(1, gpus_placed(attempt)) - job.gpu_seconds;
  return *attempt.running_at + std::chrono::seconds((left + gpus - 1) / gpus);
}

Duration quantum_of(const Knobs& knobs, const Job& job) {
  return std::max(knobs.min_quantum, switch_time(job) * 1000 / knobs.switch_share_permille);
}

}  // namespace hai
