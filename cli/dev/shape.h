#pragma once
// Which nodes and ports a dev cluster has: what it had before, unless something else is asked for.

#include "cli/dev/cluster_state.h"
#include "cli/dev/verbs.h"

namespace hai::cli {

// A cluster that runs keeps its shape: asking for another is failed_precondition. One that does not
// run takes what is asked for now, and free ports if others have taken its own.
Status reshape(const DevUpOptions& options, bool running, DevCluster& cluster);

}  // namespace hai::cli
