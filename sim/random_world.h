#pragma once
// What a random world is made of: knobs and jobs within their legal ranges.

#include "common/job_spec.h"
#include "common/knobs.h"
#include "common/rng.h"

namespace hai {

// `edge`: how probably a knob is at an end of its range; 0 draws nothing for it.
Knobs random_knobs(Rng& rng, double edge = 0);

// The job of request `number`, which may depend on earlier ones, for a cluster of max_nodes.
JobSpec random_job(Rng& rng, int number, int max_nodes);

// Makes the job one that asks for CPUs or memory, or for no GPUs, or leaves it as it is. For nodes
// of kSimCpus CPUs and kSimMemoryBytes.
void ask_for_host(Rng& rng, JobSpec& spec, int max_nodes);
inline constexpr int kSimCpus = 64;
inline constexpr int64_t kSimMemoryBytes = int64_t{1} << 39;

}  // namespace hai
