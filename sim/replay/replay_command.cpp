#include "sim/replay/replay_command.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "server/model/state_digest.h"
#include "server/store/event_log.h"
#include "sim/replay/log_replay.h"

namespace hai {
namespace {

struct Options {
  std::vector<std::string> files;
  bool state_only = false;
  bool quiet = false;
  ReplayLogOptions replay;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status replay_files(const Options& options, LogReplay& replay) {
  FileEventLog log(options.files);
  const Clock::time_point start = Clock::now();
  Clock::time_point told = start;
  while (true) {
    Result<std::vector<Event>> page = log.next_page();
    if (!page.is_ok()) return page.status();
    if (page.value().empty()) return replay.finish();
    for (Event& event : page.value()) RETURN_IF_ERROR(replay.add(std::move(event)));
    if (options.quiet || seconds_since(told) < 5) continue;
    told = Clock::now();
    const ReplayReport& report = replay.report();
    fmt::print(stderr, "{} events, {} passes, {} differences, {:.0f} events/s\n", report.events,
               report.passes, report.difference_count,
               static_cast<double>(report.events) / seconds_since(start));
  }
}

void print_report(const Options& options, const ReplayReport& report, double seconds) {
  fmt::print("log       {} events in {} turns of {} epochs, {:.2f} s, {:.0f} events/s\n",
             report.events, report.turns, report.epochs, seconds,
             static_cast<double>(report.events) / std::max(seconds, 1e-9));
  for (const std::string& note : report.notes) fmt::print("note      {}\n", note);
  for (const std::string& violation : report.violations) fmt::print("WRONG     {}\n", violation);
  if (!options.state_only) {
    fmt::print("passes    {} made again, {} events in them, {} differences\n", report.passes,
               report.decided, report.difference_count);
  }
  for (const Difference& difference : report.differences) {
    fmt::print("WRONG     event {}\n  expected  {}\n  got       {}\n", difference.seq,
               difference.expected.empty() ? "nothing more" : difference.expected,
               difference.got.empty() ? "nothing more" : difference.got);
  }
  const int64_t more = report.difference_count - std::ssize(report.differences);
  if (more > 0) fmt::print("WRONG     and {} more differences\n", more);
  if (options.replay.every_turn) {
    fmt::print("turns     after {} of them a pass would have decided what the log lacks\n",
               report.idle_turn_count);
    for (const std::string& turn : report.idle_turns) fmt::print("  {}\n", turn);
  }
  fmt::print("digest    log {} state {} after event {}\n", digest_text(report.log_digest),
             digest_text(report.state_digest), report.last_seq);
  fmt::print("{}\n", report.is_clean() ? "ok" : "failed");
}

int run(Options options) {
  options.replay.decisions = !options.state_only;
  // In an archive's folder there are jobs beside the events.
  std::erase_if(options.files,
                [](const std::string& file) { return file.ends_with("-jobs.jsonl.gz"); });
  const Clock::time_point start = Clock::now();
  LogReplay replay(options.replay);
  const Status status = replay_files(options, replay);
  if (!status.is_ok()) {
    fmt::print(stderr, "hai-sim: {}\n", status.message());
    return status.code() == Code::invalid_argument ? 2 : 1;
  }
  print_report(options, replay.report(), seconds_since(start));
  return replay.report().is_clean() ? 0 : 1;
}

}  // namespace

std::function<int()> add_replay_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "replay",
      "Runs a recorded log (hai-server export, hai-sim chaos --log) through the production code:"
      " the same state and the same planning decisions must come out. Exit code 0 if they do.");
  command
      ->add_option(
          "LOG", options->files,
          "files of events in order, .gz or not; an archive's files of jobs are passed over")
      ->required();
  command->add_flag("--state", options->state_only, "only the state: plan nothing again");
  command->add_flag("--strict", options->replay.strict,
                    "look at all invariants after every turn (default: as often as is cheap)");
  command->add_flag("--every-turn", options->replay.every_turn,
                    "say where a pass would have decided something and the log has none in time");
  command->add_flag("-q,--quiet", options->quiet, "no progress on stderr");
  return [options] { return run(*options); };
}

}  // namespace hai
