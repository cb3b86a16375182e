#pragma once
// What the commands say about themselves, as Slurm's do: "sbatch: error: TEXT" on standard error.

#include <string_view>

#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

void tell(std::string_view program, std::string_view text);
void complain(std::string_view program, std::string_view text);
// Complains, and gives hai's exit code for it.
int fail(std::string_view program, const Status& status);
int usage_error(std::string_view program, std::string_view text);

// The same of a command with a table of options.
inline void tell(Command command, std::string_view text) { tell(to_string(command), text); }
inline void complain(Command command, std::string_view text) { complain(to_string(command), text); }
inline int fail(Command command, const Status& status) { return fail(to_string(command), status); }
inline int usage_error(Command command, std::string_view text) {
  return usage_error(to_string(command), text);
}

// --help, --usage and --version: done if they were given.
bool is_only_asking(Command command, const ParsedWords& words);

}  // namespace hai::cli::slurm
