#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/complete/scripts.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"

namespace hai::cli {

void add_completion(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("completion", "Print the script that completes hai in a shell")
          ->group("You");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  session.help[verb] = {
      .details =
          "Verbs, options and their values are completed, and what is there: jobs, nodes, "
          "groups, users, contexts, incidents. A server that does not answer within half a "
          "second completes nothing.",
      .examples = {{"source <(hai completion bash)", "in ~/.bashrc; zsh alike"},
                   {"hai completion fish > ~/.config/fish/completions/hai.fish", "once"}}};
  verb->callback([&session, shell] {
    print(std::string(completion_script(*shell)));
    session.exit_code = kOk;
  });
}

}  // namespace hai::cli
