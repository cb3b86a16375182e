#pragma once
// srun in a script: a step of the job, which needs no server.

#include <string>
#include <vector>

#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

// `socket`: where the job's first rank waits for it. Gives the exit code.
int run_srun_inside(const std::vector<std::string>& words, const std::string& socket);

// What must be told of a step's options: those without effect anywhere, and those that are the
// job's to say. An error: one that would have chosen its nodes.
Result<std::vector<std::string>> step_warnings(const ParsedWords& words);

// What is wrong with any call of srun.
Status check_srun_words(const ParsedWords& words);
// --mpi=list. Gives the exit code.
int tell_mpi_list();

}  // namespace hai::cli::slurm
