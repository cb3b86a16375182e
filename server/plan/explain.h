#pragma once
// Why a job that may run still waits, in numbers that were true when the pass looked at it.

#include "common/time.h"
#include "server/model/reason.h"
#include "server/plan/capacity.h"
#include "server/plan/placement.h"

namespace hai {

// "4 CPUs and 64.0 GiB of memory"; "" for nothing.
std::string host_text(const HostAsk& ask);

// It holds `nodes` nodes and waits until `jobs` jobs have left them.
PendingReason preempting_reason(size_t nodes, size_t jobs);

// Victims are found, and waited for: they save by themselves at about `until`.
PendingReason checkpoint_reason(size_t jobs, UnixTime until);

// Neither free capacity nor legal victims make room for it.
PendingReason resources_reason(const Capacity& capacity, const Demand& demand);

}  // namespace hai
