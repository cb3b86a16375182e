#pragma once
// A batch script: its #SBATCH lines, which count only before the first command, and the program
// that runs it.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/parse_options.h"

namespace hai::cli::slurm {

// It travels in the job, whose environment has a limit.
inline constexpr size_t kScriptBytesMax = 60'000;

// The options of all #SBATCH lines. `name` is what errors call the script.
Result<ParsedWords> read_script_options(std::string_view script, const std::string& name);

// "#!/bin/bash -l" -> {"/bin/bash", "-l"}; what does not look like a script is refused, as by
// Slurm.
Result<std::vector<std::string>> interpreter_of(std::string_view script, const std::string& name);

}  // namespace hai::cli::slurm
