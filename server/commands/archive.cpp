// hai-server archive: old history into files, beside the server at work.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "server/commands/command.h"
#include "server/commands/progress.h"
#include "server/store/archive.h"

namespace hai {
namespace {

struct ArchiveCommandOptions {
  std::string older_than;
  std::string audit_older_than;
  ArchiveOptions archive;
  bool quiet = false;
};

constexpr Duration kShortest = 1h;  // what is younger may still be asked for at any moment

UnixTime wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return UnixTime(std::chrono::duration_cast<Duration>(now));
}

void print_result(const ArchiveResult& result, const ArchiveCommandOptions& options) {
  const ArchiveOptions& archive = options.archive;
  const char* where = archive.dry_run ? "would go to" : "are in";
  if (result.completed_earlier) {
    fmt::print("an earlier run had not deleted all that it had archived: that is done now\n");
  }
  if (result.events > 0) {
    fmt::print("{} events, {} to {}, and {} jobs {} {} files in {}\n", result.events,
               result.first_seq, result.last_seq, result.jobs, where, result.files, archive.dir);
  } else if (!options.older_than.empty()) {
    fmt::print("nothing is older than {}\n", options.older_than);
  }
  if (result.audit_files > 0) {
    fmt::print("entries {} to {} of the audit log {} {} files in {}\n", result.first_audit,
               result.last_audit, where, result.audit_files, archive.dir);
  } else if (!options.audit_older_than.empty()) {
    fmt::print("nothing of the audit log is older than {}\n", options.audit_older_than);
  }
}

// "" = nothing of it is moved.
Result<UnixTime> end_of(const std::string& age, const char* option) {
  if (age.empty()) return UnixTime{};
  const Result<Duration> duration = parse_duration(age);
  if (!duration.is_ok()) return invalid_argument("{}: {}", option, duration.status().message());
  if (duration.value() < kShortest) {
    return invalid_argument("{}: at least {}, is {}", option, format_duration(kShortest), age);
  }
  return wall_now() - duration.value();
}

int run(ArchiveCommandOptions options, const ServerConfig& config) {
  ArchiveOptions& archive = options.archive;
  if (options.older_than.empty()) options.older_than = config.archive_older_than;
  if (options.audit_older_than.empty()) options.audit_older_than = config.archive_audit_older_than;
  if (archive.dir.empty()) archive.dir = config.archive_dir;
  if ((options.older_than.empty() && options.audit_older_than.empty()) || archive.dir.empty()) {
    return report_failure(
        invalid_argument("archive needs --older-than or --audit-older-than, and --dir; or "
                         "archive.older_than or archive.audit_older_than, and archive.dir in the "
                         "config"));
  }
  const Result<UnixTime> events = end_of(options.older_than, "--older-than");
  if (!events.is_ok()) return report_failure(events.status());
  const Result<UnixTime> entries = end_of(options.audit_older_than, "--audit-older-than");
  if (!entries.is_ok()) return report_failure(entries.status());
  archive.older_than = events.value();
  archive.audit_older_than = entries.value();
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
  auto options = std::make_shared<ArchiveCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "archive",
      "move the oldest events with the jobs that ended in them, and the oldest entries of the audit"
      " log, from the tables into files; the server goes on. A run that was killed is completed by"
      " the next one");
  command->add_option("--older-than", options->older_than,
                      "events: how old, e.g. 90d; at least 1h (default: archive.older_than)");
  command->add_option("--audit-older-than", options->audit_older_than,
                      "entries of the audit log: how old, e.g. 365d; at least 1h (default: "
                      "archive.audit_older_than; without either they stay)");
  command->add_flag("--audit-as-it-is", options->archive.audit_as_it_is,
                    "also entries of the audit log that were changed, or miss some: what is wrong "
                    "is then in the files");
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
