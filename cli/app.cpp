#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/arguments.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "common/nearest.h"
#include "common/version.h"

namespace hai::cli {
namespace {

void add_verbs(CLI::App& app, Session& session) {
  // In the order of --help.
  for (const auto add :
       {add_run,     add_python, add_bash,   add_exec,    add_list,     add_status, add_logs,
        add_wait,    add_why,    add_whatif, add_move,    add_priority, add_events, add_stop,
        add_suspend, add_resume, add_hold,   add_release, add_nodes,    add_cordon, add_drain,
        add_undrain, add_fence, add_incidents, add_whoami, add_init,   add_token,   add_user,     add_quota,  add_dev}) {
    add(app, session);
  }
}

// What stands where a verb should; "" if nothing does.
std::string first_operand(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with('-')) return word;
  }
  return "";
}

std::string unknown_verb(const CLI::App& app, const std::string& word) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  const std::string near = nearest(word, verbs);
  const std::string hint = near.empty() ? "see hai --help" : fmt::format("did you mean {}?", near);
  return fmt::format("unknown verb '{}': {}", word, hint);
}

// CLI11's own exit codes and multi-line texts are not ours.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() == "CallForHelp") {
    print(app.help());
    return kOk;
  }
  if (error.get_name() == "CallForVersion") {
    print(std::string("hai ") + error.what() + "\n");
    return kOk;
  }
  const bool no_verb = error.get_name() == "RequiredError" && app.get_subcommands().empty();
  if (const std::string unknown = no_verb ? first_operand(app) : ""; !unknown.empty()) {
    say(unknown_verb(app, unknown));
    return kUsage;
  }
  std::string verb;
  for (const CLI::App* chosen : app.get_subcommands()) {
    verb += " " + chosen->get_name();
    for (const CLI::App* inner : chosen->get_subcommands()) verb += " " + inner->get_name();
  }
  say(fmt::format("{}; see hai{} --help", error.what(), verb));
  return kUsage;
}

}  // namespace

int run_app(const std::vector<std::string>& words) {
  Session session;
  Arguments arguments = split_arguments(words);
  session.program = arguments.program;
  session.is_submission = arguments.is_submission;

  CLI::App app("hai: time-sharing scheduler for GPU clusters", "hai");
  app.add_option("--context", session.context,
                 "cluster to talk to; default: $HAI_CONTEXT, else the current one")
      ->envname("HAI_CONTEXT");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Exit codes: 0; 1 error; 2 usage, or a job file that is not valid; 3 not found; 4 refused;\n"
      "5 server not reached. `hai wait` and `-f` end with the job's own code, or 130 if it was\n"
      "stopped without one; `hai wait --timeout` with 124.");
  app.get_formatter()->column_width(34);
  add_verbs(app, session);
  if (words.empty()) {
    print(app.help());
    return kUsage;
  }
  try {
    std::reverse(arguments.options.begin(), arguments.options.end());  // as CLI11 wants it
    app.parse(arguments.options);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  }
  return session.exit_code;
}

}  // namespace hai::cli
