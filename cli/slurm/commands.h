#pragma once
// One function per command of Slurm; each returns the exit code.

#include <string>
#include <vector>

#include "cli/slurm/parse_options.h"

namespace hai::cli {
class Session;
}

namespace hai::cli::slurm {

using Words = std::vector<std::string>;

int run_sbatch(Session& session, const Words& words);
int run_srun(Session& session, const Words& words);
int run_salloc(Session& session, const Words& words);
int run_squeue(Session& session, const Words& words);
int run_scancel(Session& session, const Words& words);
int run_sinfo(Session& session, const Words& words);
int run_scontrol(Session& session, const Words& words);
int run_sacct(Session& session, const Words& words);

}  // namespace hai::cli::slurm
