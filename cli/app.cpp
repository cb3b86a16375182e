#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/arguments.h"
#include "cli/commands/commands.h"
#include "cli/complete/complete.h"
#include "cli/exit_code.h"
#include "cli/help/help_text.h"
#include "cli/help/parse_error.h"
#include "cli/help/verb_doc.h"
#include "cli/output.h"
#include "cli/session.h"
#include "common/version.h"

namespace hai::cli {
namespace {

void add_verbs(CLI::App& app, Session& session) {
  // In the order of --help.
  for (const auto add :
       {add_run,        add_python,     add_bash,     add_exec,      add_workspace, add_env,
        add_list,       add_status,     add_describe, add_top,       add_logs,      add_shell,
        add_ssh,        add_forward,    add_wait,     add_why,       add_queue,     add_whatif,
        add_move,       add_edit,       add_rerun,    add_priority,  add_events,    add_job_verbs,
        add_nodes,      add_node_verbs, add_images,   add_incidents, add_audit,     add_whoami,
        add_init,       add_login,      add_logout,   add_context,   add_token,     add_secret,
        add_completion, add_user,       add_quota,    add_knob,      add_node,      add_ca,
        add_doctor,     add_dev,        add_help,     add_man}) {
    add(app, session);
  }
}

// CLI11's own exit codes and texts are not ours.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, const Session& session) {
  if (error.get_name() == "CallForHelp") {
    print(help_text(doc_of(chosen_verb(app), session.help), session.terminal.width));
    return kOk;
  }
  if (error.get_name() == "CallForVersion") {
    print(std::string("hai ") + error.what() + "\n");
    return kOk;
  }
  say(explain_parse_error(app, error));
  return kUsage;
}

void add_global_options(CLI::App& app, Session& session) {
  app.set_help_flag("-h,--help", "show this help");
  app.add_option("--context", session.context,
                 "cluster to talk to; default: $HAI_CONTEXT, else the current one of hai context")
      ->envname("HAI_CONTEXT");
  app.set_version_flag("--version", std::string(version()), "show the version");
  app.require_subcommand(1);
  app.fallthrough();
  session.help[&app] = {
      .details =
          "hai talks to the server of the current context: `hai dev up` makes a cluster on "
          "this machine, `hai init` joins one, `hai context` shows those you know.",
      .examples = {{"hai run train.yaml -f", "submit a job file and follow its log"},
                   {"hai python train.py -- -n 4 -p high", "submit a program on 4 nodes"},
                   {"hai list", "your jobs"},
                   {"hai why train", "why a job waits and when it will start"}},
      .exit_codes =
          "0 done; 1 error; 2 usage, or a job file that is not valid; 3 not found; "
          "4 refused; 5 server not reached. `hai wait` and `-f` end with the job's own "
          "code, or 130 if it was stopped without one; `hai wait --timeout` with 124."};
}

}  // namespace

int run_app(const std::vector<std::string>& words) {
  Session session;
  Arguments arguments = split_arguments(words);
  session.program = arguments.program;
  session.is_submission = arguments.is_submission;
  session.is_simulation = arguments.is_simulation;

  CLI::App app("Time-sharing scheduler for GPU clusters", "hai");
  add_global_options(app, session);
  add_verbs(app, session);
  if (!words.empty() && words.front() == "__complete") {
    return complete(app, {words.begin() + 1, words.end()});
  }
  if (words.empty()) {
    print(help_text(doc_of(app, session.help), session.terminal.width));
    return kUsage;
  }
  try {
    std::reverse(arguments.options.begin(), arguments.options.end());  // as CLI11 wants it
    app.parse(arguments.options);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error, session);
  }
  return session.exit_code;
}

}  // namespace hai::cli
