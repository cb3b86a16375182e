// hai-slurm: sbatch, srun, squeue and Slurm's other commands for hai, by the name under which it is
// called: `sbatch ...` through a link, or `hai-slurm sbatch ...`.

#include <fmt/core.h>

#include <cstdio>
#include <optional>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/other_commands.h"
#include "cli/slurm/step/client.h"
#include "cli/slurm/step/run_job.h"
#include "cli/table.h"
#include "common/version.h"

namespace hai::cli::slurm {
namespace {

constexpr std::string_view kHelp =
    "hai-slurm: Slurm's commands for a cluster that hai schedules\n\n"
    "  hai-slurm sbatch|srun|salloc|squeue|scancel|sinfo|scontrol|sacct [OPTIONS...]\n"
    "  hai-slurm seff|sprio|sacctmgr|sattach [OPTIONS...]\n\n"
    "Links with those names to this program do the same; put their folder first in PATH to use\n"
    "them as they are. hai-slurm COMMAND --help tells what each takes, docs/slurm.md the rest.\n";

std::optional<Command> command_of(std::string_view name) {
  for (const Command command : kCommands) {
    if (to_string(command) == name) return command;
  }
  return std::nullopt;
}

void choose_context(Session& session) {
  if (const char* context = std::getenv("HAI_CONTEXT")) session.context = context;
}

std::vector<std::string_view> names_of_all() {
  std::vector<std::string_view> names;
  for (const Command command : kCommands) names.push_back(to_string(command));
  for (const OtherCommand& other : other_commands()) names.push_back(other.name);
  return names;
}

int run_command(Command command, const Words& words) {
  Session session;
  choose_context(session);
  switch (command) {
    case Command::sbatch:
      return run_sbatch(session, words);
    case Command::srun:
      return run_srun(session, words);
    case Command::salloc:
      return run_salloc(session, words);
    case Command::squeue:
      return run_squeue(session, words);
    case Command::scancel:
      return run_scancel(session, words);
    case Command::sinfo:
      return run_sinfo(session, words);
    case Command::scontrol:
      return run_scontrol(session, words);
    case Command::sacct:
      return run_sacct(session, words);
  }
  return kUsage;
}

int run(std::string_view called, Words words) {
  called.remove_prefix(called.rfind('/') == std::string_view::npos ? 0 : called.rfind('/') + 1);
  std::optional<Command> command = command_of(called);
  if (!command && !words.empty()) {
    if (words == Words{"--run-job"}) return run_job(names_of_all());
    if (words[0] == "--cancel-step") return run_cancel_step({words.begin() + 1, words.end()});
    if (words[0] == "--version") {
      print(fmt::format("hai-slurm {}\n", version()));
      return kOk;
    }
    command = command_of(words[0]);
    if (command) words.erase(words.begin());
  }
  if (command) return run_command(*command, words);
  const OtherCommand* other = find_other_command(called);
  if (other == nullptr && !words.empty()) {
    other = find_other_command(words[0]);
    if (other != nullptr) words.erase(words.begin());
  }
  if (other != nullptr) {
    Session session;
    choose_context(session);
    return run_other_command(*other, session, words);
  }
  const bool is_help = !words.empty() && (words[0] == "--help" || words[0] == "-h");
  if (is_help) {
    print(std::string(kHelp));
    return kOk;
  }
  const std::string what =
      words.empty() ? "no command" : fmt::format("unknown command '{}'", words[0]);
  std::fprintf(stderr, "hai-slurm: %s: see hai-slurm --help\n", printable(what).c_str());
  return kUsage;
}

}  // namespace
}  // namespace hai::cli::slurm

int main(int count, char** words) {
  return hai::cli::slurm::run(count > 0 ? words[0] : "",
                              std::vector<std::string>(words + 1, words + count));
}
