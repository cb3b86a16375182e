#include "server/setup/setup.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "server/commands/command.h"

namespace hai {

ServerCommand add_setup_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "setup", "make this machine a server: database, CA, keys, config, first administrator, unit");
  const auto options = std::make_shared<SetupOptions>();
  add_setup_options(*command, *options);
  const auto run = [options, &app](const ServerConfig&) {
    options->config = app.get_option("--config")->as<std::string>();
    const Status status = run_setup(*options);
    return status.is_ok() ? kExitOk : report_failure(status);
  };
  return {.app = command, .run = run, .needs_config = false};
}

}  // namespace hai
