#pragma once
// Every verb of `hai`: each adds its subcommand to the parser and runs when it was chosen. One file
// per verb.

#include <string>

namespace CLI {
class App;
}

namespace hai::cli {

class Session;

void add_bash(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_context(CLI::App& app, Session& session);
void add_cordon(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_dev(CLI::App& app, Session& session);
void add_drain(CLI::App& app, Session& session);
void add_events(CLI::App& app, Session& session);
void add_exec(CLI::App& app, Session& session);
void add_fence(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);
void add_help(CLI::App& app, Session& session);
void add_hold(CLI::App& app, Session& session);
void add_incidents(CLI::App& app, Session& session);
void add_init(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_logs(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);
void add_move(CLI::App& app, Session& session);
void add_nodes(CLI::App& app, Session& session);
void add_priority(CLI::App& app, Session& session);
void add_python(CLI::App& app, Session& session);
void add_quota(CLI::App& app, Session& session);
void add_release(CLI::App& app, Session& session);
void add_resume(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_status(CLI::App& app, Session& session);
void add_stop(CLI::App& app, Session& session);
void add_suspend(CLI::App& app, Session& session);
void add_token(CLI::App& app, Session& session);
void add_top(CLI::App& app, Session& session);
void add_undrain(CLI::App& app, Session& session);
void add_user(CLI::App& app, Session& session);
void add_wait(CLI::App& app, Session& session);
void add_whatif(CLI::App& app, Session& session);
void add_whoami(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);

}  // namespace hai::cli
