#pragma once
// Where a command of Slurm was called: its directory, host, environment and own program.

#include "cli/slurm/map_job.h"
#include "common/status.h"

namespace hai::cli::slurm {

// The folder of the hai-slurm that jobs in images run; agents mount it into every image.
inline constexpr const char* kInImageFolder = "in-image";

Result<Surroundings> surroundings(UnixTime now);

}  // namespace hai::cli::slurm
