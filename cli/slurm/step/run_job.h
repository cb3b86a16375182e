#pragma once
// hai-slurm --run-job: what hai starts on every node of a job from sbatch or srun.

#include <string_view>
#include <vector>

namespace hai::cli::slurm {

// `commands`: under which names script and tasks find this program. The exit code of the rank.
int run_job(const std::vector<std::string_view>& commands);

}  // namespace hai::cli::slurm
