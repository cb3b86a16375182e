#pragma once
// Of squeue, sinfo and sacct: words with what the environment says, which may have been written for
// Slurm's own commands. As they do, ours go on without a format that they do not know.

#include <string>
#include <vector>

#include "cli/slurm/parse_options.h"

namespace hai::cli::slurm {

// parse_with_environment; what is left out is told.
Result<ParsedWords> parse_view_words(Command command, const std::vector<std::string>& words);

// Takes out what a variable says of formats, orders and states and is not understood: a line for
// each. What stands on the command line stays, to be refused.
std::vector<std::string> drop_unknown_values(Command command, ParsedWords& words);

}  // namespace hai::cli::slurm
