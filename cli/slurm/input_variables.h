#pragma once
// Environment variables that Slurm's commands take for options. They stand between a script's
// #SBATCH lines and the command line: they win over the former and lose against the latter.
// docs/slurm.md has a row for every one that is listed here, which a test checks.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/slurm/parse_options.h"

namespace hai::cli::slurm {

struct InputVariable {
  std::string_view name;
  std::string_view option;  // what it is the same as, without the dashes; "" = nothing here
  // Of srun: also in a script. The others are what a job itself sets there, e.g. SLURM_NTASKS.
  bool in_job = true;
  std::string_view warning = "";  // of one without an option: what its reader should know
};
std::span<const InputVariable> input_variables(Command command);

// The value of a variable, nothing if it is not set.
using ReadVariable = std::function<std::optional<std::string>(const std::string&)>;

struct EnvironmentOptions {
  ParsedWords words;                  // as if given first on the command line
  std::vector<std::string> warnings;  // of variables that change nothing or are not understood
};
// An option without a value is given by 1, yes, true or nothing, and not by 0, no or false. Errors
// name the variable; of commands that only show something they are warnings. `in_job`: srun in a
// script.
Result<EnvironmentOptions> environment_options(Command command, const ReadVariable& read,
                                               bool in_job = false);

// The words of a command line after those of the environment of this process; warnings are told.
// Not for sbatch, whose script comes before both.
Result<ParsedWords> parse_with_environment(Command command, const std::vector<std::string>& words,
                                           bool in_job = false);

std::optional<std::string> own_variable(const std::string& name);

}  // namespace hai::cli::slurm
