#pragma once
// Slurm's lesser commands: answered from what hai knows, or refused with what to use instead. They
// take few options, so they have no tables of them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hai::cli {
class Session;
}

namespace hai::cli::slurm {

struct OtherCommand {
  std::string_view name;
  // Gives the exit code; none: refused with `text`.
  int (*run)(Session& session, const std::vector<std::string>& words) = nullptr;
  std::string_view text;  // how it is called, or what to use instead; docs/slurm.md has it, too
};
std::span<const OtherCommand> other_commands();
const OtherCommand* find_other_command(std::string_view name);

int run_other_command(const OtherCommand& command, Session& session,
                      const std::vector<std::string>& words);

}  // namespace hai::cli::slurm
