#pragma once
// One number for everything durable and alive in a cluster's state: epoch, unfinished jobs with
// their latest attempts, nodes, people, quotas, tokens, open incidents. Two states that were built
// differently (events, rows, a server at work) have the same digest exactly if they agree in all of
// it, but for one chance in 2^64. Finished jobs are no part: a server forgets the older ones.

#include <cstdint>
#include <string>

#include "server/model/cluster_state.h"

namespace hai {

// Takes about 0.4 s for a million waiting jobs.
uint64_t state_digest(const ClusterState& state);

// 16 hexadecimal digits.
std::string digest_text(uint64_t digest);

}  // namespace hai
