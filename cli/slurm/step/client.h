#pragma once
// srun inside a job: asks the job's first rank for a step and shows what its tasks say.

#include <string>

#include "cli/slurm/step/output_writer.h"
#include "cli/slurm/step/step.h"

namespace hai::cli::slurm {

inline constexpr const char* kStepSocketVariable = "HAI_SLURM_STEPS";

// The highest exit code of the tasks.
int run_step(const std::string& socket, const StepRequest& request, OutputWriter::Options output);

}  // namespace hai::cli::slurm
