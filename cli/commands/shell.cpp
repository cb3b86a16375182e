#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/session.h"
#include "cli/shell_io.h"

namespace hai::cli {
namespace {

struct ShellOptions {
  std::string job;
  int rank = 0;
  bool wants_terminal = false;
  bool wants_none = false;
  std::vector<std::string> command;
};

// A terminal where a person types; a command gets one only if he says so, as with ssh.
bool has_terminal(const ShellOptions& options) {
  if (options.wants_terminal || options.wants_none) return options.wants_terminal;
  return options.command.empty() && ::isatty(STDIN_FILENO) != 0;
}

int shell(Session& session, const ShellOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ShellOpen open;
  open.set_job(options.job);
  open.set_rank(options.rank);
  for (const std::string& word : options.command) open.mutable_program()->add_argv(word);
  const Result<int> code = enter_job(*client.value(), std::move(open), has_terminal(options));
  return code.is_ok() ? code.value() : session.fail(code.status());
}

}  // namespace

void add_shell(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("shell", "Open a shell in a running job")->group("Jobs");
  const auto options = std::make_shared<ShellOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_option("CMD", options->command,
                   "run this instead of a shell; after --, with its own options");
  verb->add_option("-r,--rank", options->rank, "in this rank, 0 by default")
      ->check(CLI::Range(0, 1'000'000));
  CLI::Option* terminal =
      verb->add_flag("-t,--tty", options->wants_terminal, "with a terminal, also for a CMD");
  verb->add_flag("-T,--no-tty", options->wants_none, "without a terminal: bytes as they are")
      ->excludes(terminal);
  session.help[verb] = {
      .details =
          "It runs beside the rank's programs: as the job's user, with their environment, GPUs, "
          "mounts and limits. It ends with the rank, and when the connection to the server does. "
          "Only the job's owner gets in. In a terminal, \"~.\" at the beginning of a line leaves "
          "at once.",
      .examples = {{"hai shell train", "a shell in rank 0 of your job of that name"},
                   {"hai shell 17 -r 3 -- nvidia-smi", "one command in rank 3"},
                   {"hai shell train -- tar c out | tar x", "its output, byte for byte"}},
      .exit_codes =
          "that of the program, 128 and the number of a signal that killed it; 130 after "
          "\"~.\"; what hai itself could not do is told by its usual codes."};
  verb->callback([&session, options] { session.exit_code = shell(session, *options); });
}

}  // namespace hai::cli
