#pragma once
// Who goes first (docs/contract.md, Scheduling; docs/design/0004). Inside a level `feedback` is a
// multi-level feedback queue over the GPU time a job has had, in the manner of least attained
// service for gangs (Gu et al., "Tiresias", NSDI'19): each class is twice as wide as the one
// before. Waiting lifts a job class by class without end, so that nobody waits for ever while
// shorter jobs keep coming.

#include <compare>
#include <cstdint>

#include "common/knobs.h"
#include "server/model/job.h"
#include "server/model/user.h"

namespace hai {

inline constexpr int kClassMin = -30;
inline constexpr int kClassMax = 40;

// The class of a job that has had so much GPU time: 0 below feedback_base, then one more each time
// it doubles. Always 0 under fifo.
int feedback_class(const Knobs& knobs, int64_t gpu_seconds);
// GPU seconds at which the class ends; class < kClassMax.
int64_t class_end(const Knobs& knobs, int feedback_class);

// GPU seconds that a usage is worth at `now`. Integer arithmetic: the same on every machine.
int64_t decayed(const GpuUsage& usage, UnixTime now, Duration half_life);

// GPUs that an attempt holds.
int gpus_of(const Attempt& attempt);
// GPUs that it was given, those of ranks that have given them back included.
int gpus_placed(const Attempt& attempt);
// GPU time of a job so far, its live attempt included.
int64_t gpu_seconds_had(const Job& job, UnixTime now);
// The part of it that this rank of its live attempt has had by now.
int64_t gpu_seconds_had(const Job& job, const Rank& rank, UnixTime now);
// For how long its attempts have run.
Duration ran_for(const Job& job, UnixTime now);

// When the present wait of a job began: not before begin_at.
UnixTime waiting_since(const Job& job);

// above_normal counts as normal once the job has run above_normal_lasts.
Priority order_level(const Knobs& knobs, const Job& job, Priority level, UnixTime now);

// Until when that level lasts for a job whose attempt runs.
UnixTime above_normal_until(const Knobs& knobs, const Job& job);

// At least so long a job runs before its own level may interrupt it: min_quantum, and so long that
// saving and restarting take at most switch_share of it.
Duration quantum_of(const Knobs& knobs, const Job& job);

// Less is better.
struct OrderKey {
  int level = 0;  // minus the priority's number
  int feedback_class = 0;
  int64_t usage = 0;  // its user's decayed GPU seconds; 0 under fifo
  int64_t custom_rank = 0;
  JobId job;
  auto operator<=>(const OrderKey&) const = default;
};

}  // namespace hai
