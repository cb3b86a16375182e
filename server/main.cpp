// hai-server: the scheduler. Reads its config, composes the server, runs it; no logic here.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "common/log.h"
#include "common/version.h"
#include "server/server_app.h"
#include "server/store/migrate.h"

namespace hai {
namespace {

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kUsage = 2;

int fail(const Status& status) {
  fmt::print(stderr, "hai-server: {}\n", status.message());
  return status.code() == Code::invalid_argument ? kUsage : kError;
}

int run_migrate(const ServerConfig& config) {
  Result<MigrateResult> result = migrate(config.conninfo);
  if (!result.is_ok()) return fail(result.status());
  fmt::print("schema version {}, was {}\n", result.value().to, result.value().from);
  return kOk;
}

int run_server(const ServerConfig& config) {
  set_log_level(config.log_level);
  if (Status status = set_log_file(config.log_file); !status.is_ok()) return fail(status);
  std::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<ServerApp>> app = ServerApp::make(config);
  if (!app.is_ok()) return fail(app.status());
  app.value()->run();
  return kOk;
}

int run(int argc, char** argv) {
  CLI::App app{"hai-server: the scheduler of a hai cluster"};
  app.set_version_flag("--version", "hai-server " + std::string(version()));
  std::string path = "/etc/hai/server.yaml";
  bool check_only = false;
  app.add_option("--config", path, "config file")->capture_default_str();
  app.add_flag("--check-config", check_only, "read the config, say what is wrong, and exit");
  CLI::App* migrate_command =
      app.add_subcommand("migrate", "bring the database to this version's schema and exit");
  migrate_command->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  Result<ServerConfig> config = read_server_config(path);
  if (!config.is_ok()) return fail(config.status());
  if (check_only) {
    fmt::print("{}: ok\n", path);
    return kOk;
  }
  if (migrate_command->parsed()) return run_migrate(config.value());
  return run_server(config.value());
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) { return hai::run(argc, argv); }
