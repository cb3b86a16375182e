#pragma once
// srun inside a job: asks the job's first rank for a step and shows what its tasks say. And
// scancel of one.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/slurm/step/output_writer.h"
#include "cli/slurm/step/step.h"
#include "common/status.h"

namespace hai::cli::slurm {

inline constexpr const char* kStepSocketVariable = "HAI_SLURM_STEPS";

// The highest exit code of the tasks.
int run_step(const std::string& socket, const StepRequest& request, OutputWriter::Options output);

// Ends a step, or sends it `signal` if that is not 0. An error: why that could not be.
Status cancel_step(const std::string& socket, uint32_t step, int signal);

// hai-slurm --cancel-step SOCKET STEP SIGNAL: the same from within a rank. Gives the exit code.
int run_cancel_step(const std::vector<std::string>& words);

}  // namespace hai::cli::slurm
