#pragma once
// What ranks other than the first do: start the tasks that the first one sends, until it ends.

#include "cli/slurm/map_job.h"
#include "cli/slurm/step/frame.h"

namespace hai::cli::slurm {

// The exit code of the rank. `signal`: what to pass on to the tasks, 0 = none.
int run_peer(FrameChannel channel, EnvironmentMap rank, int signal);

}  // namespace hai::cli::slurm
