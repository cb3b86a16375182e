#pragma once
// srun --mpi: none, or pmix, by which programs of MPI find each other without mpirun.

#include <string_view>

#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

inline constexpr std::string_view kMpiList = "MPI plugin types are...\n\tnone\n\tpmix\n";

bool asks_mpi_list(const ParsedWords& words);
bool wants_pmix(const ParsedWords& words);
Status check_mpi(const ParsedWords& words);

// -K, which is the default with PMIx: who waits in MPI for a task that failed waits for ever.
bool kills_on_bad_exit(const ParsedWords& words);

}  // namespace hai::cli::slurm
