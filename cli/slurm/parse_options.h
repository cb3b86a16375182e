#pragma once
// Words as Slurm's commands read them: -N4, -N 4, --nodes=4, --nodes 4, flags in one word (-hl),
// beginnings of long names. Options end at the first operand for sbatch and srun, whose operands
// are somebody else's command line, and at "--" for all.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/option_table.h"
#include "common/status.h"

namespace hai::cli::slurm {

struct GivenOption {
  const Option* option;
  std::string value;  // "" if none was given
  std::string where;  // "train.sh line 3: ", or "" on the command line
};

struct ParsedWords {
  std::vector<GivenOption> options;
  std::vector<std::string> operands;

  bool has(std::string_view name) const;
  // The last one wins; nullptr if it was not given.
  const GivenOption* find(std::string_view name) const;
  std::string value_of(std::string_view name) const;  // "" if it was not given
  // What must be told to the user: one line for each kind of option that is warned about.
  std::vector<std::string> warnings() const;
};

// A refused or unknown option is invalid_argument, with what to do instead.
Result<ParsedWords> parse_words(Command command, const std::vector<std::string>& words,
                                const std::string& where = "");

// What is wrong with what an option was given: invalid_argument with its place and name.
Status option_error(const GivenOption& given, std::string_view text);
Result<int> parse_count(const GivenOption& given, int low, int high);

// --help of a command, from the table.
std::string help_text(Command command);

}  // namespace hai::cli::slurm
