#pragma once
// hai rerun.

#include "server/control/verbs/submit.h"

namespace hai {

// The spec of its successor: as it is now, with the dependencies that were not met when it ended. A
// job that has been run again since is waited for as what it is now.
JobSpec spec_to_rerun(const ClusterState& state, const Job& old);

}  // namespace hai
