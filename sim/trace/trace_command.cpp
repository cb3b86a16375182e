#include "sim/trace/trace_command.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>

#include "server/store/event_line.h"
#include "server/store/line_file.h"
#include "sim/baselines/easy.h"
#include "sim/baselines/hai_open.h"
#include "sim/trace/trace_options.h"
#include "sim/trace/trace_report.h"

namespace hai {
namespace {

constexpr int kUsageError = 2;

int refuse(const std::string& what) {
  std::fprintf(stderr, "hai-sim: %s\n", what.c_str());
  return kUsageError;
}

Status set_knobs(const TraceOptions& options, Knobs& knobs) {
  knobs = replay_knobs();
  if (options.policy == "fifo") RETURN_IF_ERROR(set_knob(knobs, "policy", "fifo"));
  for (const std::string& text : options.knobs) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalid_argument("--knob: must be NAME=VALUE, is '{}'", text.substr(0, 64));
    std::string name = text.substr(0, equals);
    if (!is_replay_knob(name) || name == "policy") {
      return invalid_argument("--knob: {}", name == "policy" ? "policy has its own option, --policy"
                                                             : name + " means nothing in a replay");
    }
    RETURN_IF_ERROR(set_knob(knobs, name, text.substr(equals + 1)));
  }
  return ok();
}

VictimChoice victims_of(const TraceOptions& options) {
  if (options.victims == "youngest") return VictimChoice::youngest;
  if (options.victims == "lowest-priority") return VictimChoice::lowest_priority;
  return VictimChoice::least_lost_work;
}

std::unique_ptr<Planner> planner_of(const TraceOptions& options, const Fleet& fleet) {
  if (options.policy == "hai-open") return make_hai_open_planner(options.fleet.seed);
  if (options.policy == "easy") {
    return make_easy_planner(
        [&fleet](const Job& job) { return fleet.time_left(Fleet::job_of(job.spec->name)); });
  }
  return make_planner(victims_of(options));
}

// A line on a terminal that is written over, else a line every few seconds.
class Progress {
 public:
  explicit Progress(int64_t jobs) : jobs_(jobs) {}
  ~Progress() {
    if (is_terminal_ && told_) std::fputc('\n', stderr);
  }
  void operator()(const Meter& meter, Duration virtual_time) {
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < (is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5)))
      return;
    last_ = now;
    told_ = true;
    fmt::print(stderr, "{}day {:.1f}: {} of {} jobs ended, {} run, {} wait{}",
               is_terminal_ ? "\r" : "", static_cast<double>(virtual_time.count()) / 8.64e10,
               meter.ended(), jobs_, meter.running(), meter.waiting(),
               is_terminal_ ? "    " : "\n");
    std::fflush(stderr);
  }

 private:
  const int64_t jobs_;
  const bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool told_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? ok() : unavailable("{}: can't be written", path);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The log of a replay, if one is wanted. The first error is kept.
class LogFile {
 public:
  Status open(const std::string& path) {
    if (path.empty()) return ok();
    auto writer = LineWriter::create(path, /*replace=*/true);
    if (!writer.is_ok()) return writer.status();
    writer_ = std::move(writer).value();
    return ok();
  }
  void write(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (writer_ != nullptr && status_.is_ok()) status_ = writer_->write(event_line(event));
    }
  }
  Status finish() {
    if (writer_ == nullptr || !status_.is_ok()) return status_;
    return writer_->finish();
  }

 private:
  std::unique_ptr<LineWriter> writer_;
  Status status_;
};

ReplayResult run_replay(const TraceOptions& options, const Knobs& knobs,
                        const TraceCluster& cluster, const Trace& trace, Failures failures,
                        LogFile& log) {
  Progress progress(std::ssize(trace.jobs));
  ReplayOptions replay_options{.fleet = options.fleet, .knobs = knobs};
  replay_options.make_planner = [&](const Fleet& fleet) { return planner_of(options, fleet); };
  if (!options.quiet) replay_options.progress = std::ref(progress);
  if (!options.log.empty()) {
    replay_options.on_events = [&log](const std::vector<Event>& events) { log.write(events); };
  }
  return replay(cluster, trace, std::move(failures), replay_options);
}

void tell_skipped(const Trace& trace, int nodes) {
  if (trace.unknown_duration > 0)
    fmt::print(stderr, "{} jobs of unknown duration are left out\n", trace.unknown_duration);
  if (trace.too_large > 0)
    fmt::print(stderr, "{} jobs that need more than {} nodes are left out\n", trace.too_large,
               nodes);
}

int run(const TraceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Knobs knobs;
  if (Status status = set_knobs(options, knobs); !status.is_ok()) return refuse(status.message());
  auto cluster = read_cluster(options.cluster);
  if (!cluster.is_ok()) return refuse(cluster.status().message());
  auto trace = read_trace(options.trace, options.choice, cluster.value());
  if (!trace.is_ok()) return refuse(trace.status().message());
  auto failures =
      options.failures.empty()
          ? Result<Failures>(Failures())
          : read_failures(options.failures, static_cast<int>(cluster.value().nodes.size()),
                          options.failure_servers);
  if (!failures.is_ok()) return refuse(failures.status().message());
  if (!options.quiet) tell_skipped(trace.value(), cluster.value().most_nodes_together);

  TraceReport report{.policy = options.policy,
                     .cluster = options.cluster,
                     .trace = options.trace,
                     .failures = options.failures,
                     .seed = options.fleet.seed,
                     .jobs = std::ssize(trace.value().jobs),
                     .unknown_duration = trace.value().unknown_duration,
                     .too_large = trace.value().too_large,
                     .gpus = cluster.value().gpus()};
  LogFile log;
  if (Status status = log.open(options.log); !status.is_ok()) return refuse(status.message());
  report.result =
      run_replay(options, knobs, cluster.value(), trace.value(), std::move(failures).value(), log);
  if (Status status = log.finish(); !status.is_ok()) return refuse(status.message());
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_rss_mb = peak_rss_mb();

  std::fputs(to_table(report).c_str(), stdout);
  for (auto& [path, text] :
       {std::pair(options.json, &to_json), std::pair(options.svg, &to_chart)}) {
    if (path.empty()) continue;
    if (Status status = write_file(path, text(report)); !status.is_ok())
      return refuse(status.message());
  }
  if (report.result.refused > 0)
    fmt::print(stderr, "hai-sim: {} jobs were refused, the first with: {}\n", report.result.refused,
               report.result.first_refusal);
  if (report.result.is_stuck) fmt::print(stderr, "hai-sim: the jobs that are left never start\n");
  const Measures& measures = report.result.measures;
  return measures.completed + measures.failed == report.jobs ? 0 : 1;
}

}  // namespace

std::function<int()> add_trace_command(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand(
      "trace", "Replays a job trace with the production controller and planner in virtual time.");
  add_trace_options(*command, *options);
  return [options] { return run(*options); };
}

}  // namespace hai
