#pragma once
// What the commands say about themselves, as Slurm's do: "sbatch: error: TEXT" on standard error.

#include <string_view>

#include "cli/slurm/option_table.h"
#include "common/status.h"

namespace hai::cli::slurm {

void tell(Command command, std::string_view text);
void complain(Command command, std::string_view text);
// Complains, and gives hai's exit code for it.
int fail(Command command, const Status& status);
int usage_error(Command command, std::string_view text);

}  // namespace hai::cli::slurm
