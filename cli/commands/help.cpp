#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/help/help_text.h"
#include "cli/help/parse_error.h"
#include "cli/help/verb_doc.h"
#include "cli/output.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

int help(Session& session, const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* verb = &root;
  for (const std::string& word : words) {
    const CLI::App* inner = verb_named(*verb, word);
    if (inner == nullptr) return session.usage_error(unknown_verb(*verb, word));
    verb = inner;
  }
  print(help_text(doc_of(*verb, session.help), session.terminal.width));
  return kOk;
}

}  // namespace

void add_help(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("help", "Show what a verb does")->group("You");
  const auto words = std::make_shared<std::vector<std::string>>();
  verb->add_option("VERB", *words, "a verb, and one below it");
  session.help[verb] = {.examples = {{"hai help list", "the same as hai list --help"},
                                     {"hai help quota set", "a verb of a verb"}}};
  verb->callback([&session, &app, words] { session.exit_code = help(session, app, *words); });
}

}  // namespace hai::cli
