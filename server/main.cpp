// hai-server: the scheduler. Reads its config, composes the server or a command, runs it; no logic
// here.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "common/log.h"
#include "common/version.h"
#include "server/commands/command.h"
#include "server/server_app.h"
#include "server/setup/unix_user.h"

namespace hai {
namespace {

int run_server(const ServerConfig& config, const std::string& path) {
  set_log_level(config.log_level);
  if (Status status = set_log_file(config.log_file); !status.is_ok()) return report_failure(status);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);  // until the loop takes it
  Result<std::unique_ptr<ServerApp>> app = ServerApp::make(config, path);
  if (!app.is_ok()) return report_failure(app.status());
  app.value()->run();
  return kExitOk;
}

int run(int argc, char** argv) {
  CLI::App app{"hai-server: the scheduler of a hai cluster. Without a command it serves."};
  app.set_version_flag("--version", "hai-server " + std::string(version()));
  std::string path = "/etc/hai/server.yaml";
  bool check_only = false;
  app.add_option("--config", path, "config file")->capture_default_str();
  app.add_flag(
      "--check-config", check_only,
      "read the config, look whether the files and the database it names are there, say what is "
      "wrong, and exit");
  const ServerCommand commands[] = {add_migrate_command(app), add_verify_command(app),
                                    add_export_command(app),  add_archive_command(app),
                                    add_ca_command(app),      add_setup_command(app),
                                    add_doctor_command(app),  add_rescue_command(app)};
  for (const ServerCommand& command : commands) command.app->fallthrough();
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (const ServerCommand& command : commands) {
    if (command.app->parsed() && !command.needs_config) return command.run({});
  }
  Result<ServerConfig> config = read_server_config(path);
  if (!config.is_ok()) return report_failure(config.status());
  if (check_only) return check_config(config.value(), path);
  for (const ServerCommand& command : commands) {
    if (command.app->parsed()) return command.run(config.value());
  }
  return run_server(config.value(), path);
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) {
  hai::leave_closed_home();
  return hai::run(argc, argv);
}
