#pragma once
// Every verb of `hai`: each adds its subcommand to the parser and runs when it was chosen. One file
// per verb, but for those that are rows of control_verbs.cpp.

#include <string>

namespace CLI {
class App;
}

namespace hai::cli {

class Session;

void add_audit(CLI::App& app, Session& session);
void add_bash(CLI::App& app, Session& session);
void add_ca(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_context(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_dev(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_env(CLI::App& app, Session& session);
void add_events(CLI::App& app, Session& session);
void add_exec(CLI::App& app, Session& session);
void add_forward(CLI::App& app, Session& session);
void add_help(CLI::App& app, Session& session);
void add_incidents(CLI::App& app, Session& session);
void add_init(CLI::App& app, Session& session);
void add_job_verbs(CLI::App& app, Session& session);
void add_knob(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_login(CLI::App& app, Session& session);
void add_logout(CLI::App& app, Session& session);
void add_logs(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);
void add_move(CLI::App& app, Session& session);
void add_edit(CLI::App& app, Session& session);
void add_rerun(CLI::App& app, Session& session);
void add_node(CLI::App& app, Session& session);
void add_node_revoke(CLI::App& app, Session& session);  // of `hai node` and of `hai ca`
void add_node_verbs(CLI::App& app, Session& session);
void add_nodes(CLI::App& app, Session& session);
void add_priority(CLI::App& app, Session& session);
void add_python(CLI::App& app, Session& session);
void add_queue(CLI::App& app, Session& session);
void add_quota(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_shell(CLI::App& app, Session& session);
void add_images(CLI::App& app, Session& session);
void add_ssh(CLI::App& app, Session& session);
void add_status(CLI::App& app, Session& session);
void add_token(CLI::App& app, Session& session);
void add_secret(CLI::App& app, Session& session);
void add_top(CLI::App& app, Session& session);
void add_user(CLI::App& app, Session& session);
void add_wait(CLI::App& app, Session& session);
void add_whatif(CLI::App& app, Session& session);
void add_whoami(CLI::App& app, Session& session);
void add_workspace(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);

}  // namespace hai::cli
