#pragma once
// The variables of one task, as a program started by Slurm's srun knows them. Pure.

#include <string>
#include <vector>

#include "cli/slurm/map_job.h"
#include "cli/slurm/step/step.h"

namespace hai::cli::slurm {

// "NAME=VALUE" texts to a map and back; texts without a "=" are dropped.
EnvironmentMap map_of(const std::vector<std::string>& texts);
std::vector<std::string> texts_of(const EnvironmentMap& environment);

// What the script of the job sees: `rank` is that of hai, the variables of a batch script Slurm's.
EnvironmentMap script_environment(const EnvironmentMap& rank, const JobPlan& plan,
                                  const std::vector<std::string>& names);

// srun's environment, with what belongs to the task's own node from `rank`.
EnvironmentMap task_environment(const StepLaunch& launch, uint32_t step, int local_task,
                                const EnvironmentMap& rank);

}  // namespace hai::cli::slurm
