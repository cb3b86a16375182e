#pragma once

#include <vector>

namespace hai {

// This process and all that it starts run on these CPUs, given in increasing order; empty = as it
// is. Best effort: where none of them may be used any more, nothing changes.
void stay_on_cpus(const std::vector<int>& cpus);

}  // namespace hai
