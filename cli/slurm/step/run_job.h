#pragma once
// hai-slurm --run-job: what hai starts on every node of a job from sbatch or srun.

namespace hai::cli::slurm {

int run_job();

}  // namespace hai::cli::slurm
