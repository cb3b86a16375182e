// hai-server export: the event log as a file.

#include <CLI/CLI.hpp>
#include <memory>

#include "server/commands/command.h"
#include "server/commands/progress.h"
#include "server/store/export.h"

namespace hai {
namespace {

int run(ExportOptions options, bool is_quiet, const ServerConfig& config) {
  Progress progress("events");
  if (!is_quiet) options.progress = std::ref(progress);
  Result<ExportResult> result = export_events(config.conninfo, options);
  if (!result.is_ok()) return report_failure(result.status());
  fmt::print("{} events, {} to {}, in {}\n", result.value().events, result.value().first_seq,
             result.value().last_seq, options.path);
  return kExitOk;
}

}  // namespace

ServerCommand add_export_command(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  auto is_quiet = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "export", "write the event log to a file, an event a line; hai-sim replay reads it");
  command->add_option("--from", options->from, "the first event (default: the first there is)")
      ->check(CLI::PositiveNumber);
  command->add_option("--to", options->to, "the last event (default: the last there is)")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", options->path, "a new file; compressed if its name ends in .gz")
      ->required();
  command->add_flag("-q,--quiet", *is_quiet, "no progress on stderr");
  return {command, [options, is_quiet](const ServerConfig& config) {
            return run(*options, *is_quiet, config);
          }};
}

}  // namespace hai
