#pragma once
// What it costs to interrupt a job (docs/contract.md, Scheduling): gpus × (now − last durable
// checkpoint + save time + restart time). A job that reports no checkpoints is charged a fixed
// assumed age, or what it has run if that is less: silence never protects, reporting never hurts.

#include <cstdint>

#include "common/knobs.h"
#include "server/model/job.h"

namespace hai {

// What an interruption takes besides lost work: the time to save, as reported, and to restart.
Duration switch_time(const Job& job);

// The restart time that is part of it.
inline constexpr Duration kAssumedRestart = 30s;

// The same per GPU of the attempt: suspend_cost() is so much for each.
Duration suspend_cost_per_gpu(const Job& job, const Knobs& knobs, UnixTime now);

// GPU-microseconds; 0 for an attempt that is already leaving. The job must have a live attempt.
int64_t suspend_cost(const Job& job, const Knobs& knobs, UnixTime now);

// GPU-seconds of work since the last checkpoint (or the start) that are lost if the live attempt
// ends at `now`. Ranks that have given their places back have done their part: theirs is not.
int64_t lost_gpu_seconds(const Job& job, UnixTime now);

}  // namespace hai
