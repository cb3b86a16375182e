#pragma once
// The options of Slurm's commands, and what becomes of each. docs/slurm.md has a row for every one
// that is listed here, which a test checks: an option that is not in the table is refused.

#include <span>
#include <string_view>

namespace hai::cli::slurm {

enum class Command { sbatch, srun, salloc, squeue, scancel, sinfo, scontrol, sacct };
inline constexpr Command kCommands[] = {Command::sbatch,   Command::srun,    Command::salloc,
                                        Command::squeue,   Command::scancel, Command::sinfo,
                                        Command::scontrol, Command::sacct};
std::string_view to_string(Command command);

enum class Argument { none, required, optional };  // optional: only as --name=VALUE

enum class Treatment {
  mapped,   // does what it does in Slurm, as far as `text` says
  anyway,   // mapped without any code: what it asks for is so in any case, as `text` says
  warned,   // changes nothing here, and one line on standard error says so
  refused,  // nothing is done; `text` is what to do instead
};
std::string_view to_string(Treatment treatment);  // "mapped" also for what is so anyway

struct Option {
  std::string_view name;  // without the dashes
  char letter = 0;        // 0 = none
  Argument argument = Argument::none;
  Treatment treatment = Treatment::mapped;
  std::string_view text;  // a phrase for --help and the documentation
};

// Of sbatch, srun and salloc, which submit jobs: what all know comes first, then what only one of
// them knows.
bool submits_jobs(Command command);
std::span<const Option> common_job_options();
std::span<const Option> own_options(Command command);

// By name, by a beginning of a name that only one has, or by letter; nullptr if there is none.
const Option* find_option(Command command, std::string_view name);
const Option* find_option(Command command, char letter);
// "--nodes" or "-N, --nodes".
std::string_view nearest_option(Command command, std::string_view name);

}  // namespace hai::cli::slurm
