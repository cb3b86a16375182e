// hai-server archive: old history into files, beside the server at work.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "server/commands/command.h"
#include "server/commands/progress.h"
#include "server/store/archive.h"

namespace hai {
namespace {

struct Options {
  std::string older_than;
  ArchiveOptions archive;
  bool quiet = false;
};

constexpr Duration kShortest = 1h;  // what is younger may still be asked for at any moment

UnixTime wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return UnixTime(std::chrono::duration_cast<Duration>(now));
}

void print_result(const ArchiveResult& result, const Options& options) {
  const ArchiveOptions& archive = options.archive;
  if (result.completed_earlier) {
    fmt::print("an earlier run had not deleted all that it had archived: that is done now\n");
  }
  if (result.events == 0) {
    fmt::print("nothing is older than {}\n", options.older_than);
    return;
  }
  fmt::print("{} events, {} to {}, and {} jobs {} {} files in {}\n", result.events,
             result.first_seq, result.last_seq, result.jobs,
             archive.dry_run ? "would go to" : "are in", result.files, archive.dir);
}

int run(Options options, const ServerConfig& config) {
  ArchiveOptions& archive = options.archive;
  if (options.older_than.empty()) options.older_than = config.archive_older_than;
  if (archive.dir.empty()) archive.dir = config.archive_dir;
  if (options.older_than.empty() || archive.dir.empty()) {
    return report_failure(
        invalid_argument("archive needs --older-than and --dir, or archive.older_than and "
                         "archive.dir in the config"));
  }
  Result<Duration> age = parse_duration(options.older_than);
  if (!age.is_ok()) return report_failure(age.status());
  if (age.value() < kShortest) {
    return report_failure(invalid_argument("--older-than: at least {}, is {}",
                                           format_duration(kShortest), options.older_than));
  }
  archive.older_than = wall_now() - age.value();
  archive.cluster = config.cluster;
  Progress progress("events");
  if (!options.quiet) archive.progress = std::ref(progress);
  Result<ArchiveResult> result = archive_ledger(config.conninfo, archive);
  if (!result.is_ok()) return report_failure(result.status());
  print_result(result.value(), options);
  return kExitOk;
}

}  // namespace

ServerCommand add_archive_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "archive",
      "move the oldest events, and the jobs that ended in them, from the tables into files; the"
      " server goes on. A run that was killed is completed by the next one");
  command->add_option("--older-than", options->older_than,
                      "how old, e.g. 90d; at least 1h (default: archive.older_than)");
  command->add_option("--dir", options->archive.dir,
                      "an existing folder for the files (default: archive.dir)");
  command
      ->add_option("--keep-events", options->archive.keep_events,
                   "so many of the newest events stay, however old")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->capture_default_str();
  command->add_option("--part-events", options->archive.part_events, "at most so many in one file")
      ->check(CLI::Range(int64_t{1}, int64_t{5'000'000}))
      ->capture_default_str();
  command->add_flag("--dry-run", options->archive.dry_run, "only say what would be moved");
  command->add_flag("-q,--quiet", options->quiet, "no progress on stderr");
  return {command, [options](const ServerConfig& config) { return run(*options, config); }};
}

}  // namespace hai
