#include <CLI/CLI.hpp>

#include "server/commands/command.h"
#include "server/store/migrate.h"

namespace hai {

ServerCommand add_migrate_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("migrate", "bring the database to this version's schema and exit");
  return {command, [](const ServerConfig& config) {
            Result<MigrateResult> result = migrate(config.conninfo);
            if (!result.is_ok()) return report_failure(result.status());
            fmt::print("schema version {}, was {}\n", result.value().to, result.value().from);
            return kExitOk;
          }};
}

}  // namespace hai
