#include "sim/trace/trace_command.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>

#include "sim/baselines/easy.h"
#include "sim/baselines/hai_open.h"
#include "sim/trace/trace_report.h"

namespace hai {
namespace {

constexpr int kUsageError = 2;

struct Arguments {
  std::string cluster;
  std::string trace;
  std::string policy = "feedback";
  std::string victims = "least-lost-work";
  std::string failures;
  int failure_servers = 400;
  TraceChoice choice;
  FleetOptions fleet;
  std::vector<std::string> knobs;
  std::string json;
  std::string svg;
  bool quiet = false;
};

int refuse(const std::string& what) {
  std::fprintf(stderr, "hai-sim: %s\n", what.c_str());
  return kUsageError;
}

Status set_knobs(const Arguments& arguments, Knobs& knobs) {
  knobs = replay_knobs();
  if (arguments.policy == "fifo") RETURN_IF_ERROR(set_knob(knobs, "policy", "fifo"));
  for (const std::string& text : arguments.knobs) {
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

VictimChoice victims_of(const Arguments& arguments) {
  if (arguments.victims == "youngest") return VictimChoice::youngest;
  if (arguments.victims == "lowest-priority") return VictimChoice::lowest_priority;
  return VictimChoice::least_lost_work;
}

std::unique_ptr<Planner> planner_of(const Arguments& arguments, const Fleet& fleet) {
  if (arguments.policy == "hai-open") return make_hai_open_planner(arguments.fleet.seed);
  if (arguments.policy == "easy") {
    return make_easy_planner(
        [&fleet](const Job& job) { return fleet.time_left(Fleet::job_of(job.spec->name)); });
  }
  return make_planner(victims_of(arguments));
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

ReplayResult run_replay(const Arguments& arguments, const Knobs& knobs, const TraceCluster& cluster,
                        const Trace& trace, Failures failures) {
  Progress progress(std::ssize(trace.jobs));
  ReplayOptions options{.fleet = arguments.fleet, .knobs = knobs};
  options.make_planner = [&](const Fleet& fleet) { return planner_of(arguments, fleet); };
  if (!arguments.quiet) options.progress = std::ref(progress);
  return replay(cluster, trace, std::move(failures), options);
}

void tell_skipped(const Trace& trace, int nodes) {
  if (trace.unknown_duration > 0)
    fmt::print(stderr, "{} jobs of unknown duration are left out\n", trace.unknown_duration);
  if (trace.too_large > 0)
    fmt::print(stderr, "{} jobs that need more than {} nodes are left out\n", trace.too_large,
               nodes);
}

int run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Knobs knobs;
  if (Status status = set_knobs(arguments, knobs); !status.is_ok()) return refuse(status.message());
  auto cluster = read_cluster(arguments.cluster);
  if (!cluster.is_ok()) return refuse(cluster.status().message());
  auto trace = read_trace(arguments.trace, arguments.choice, cluster.value());
  if (!trace.is_ok()) return refuse(trace.status().message());
  auto failures =
      arguments.failures.empty()
          ? Result<Failures>(Failures())
          : read_failures(arguments.failures, static_cast<int>(cluster.value().nodes.size()),
                          arguments.failure_servers);
  if (!failures.is_ok()) return refuse(failures.status().message());
  if (!arguments.quiet) tell_skipped(trace.value(), cluster.value().most_nodes_together);

  TraceReport report{.policy = arguments.policy,
                     .cluster = arguments.cluster,
                     .trace = arguments.trace,
                     .failures = arguments.failures,
                     .seed = arguments.fleet.seed,
                     .jobs = std::ssize(trace.value().jobs),
                     .unknown_duration = trace.value().unknown_duration,
                     .too_large = trace.value().too_large,
                     .gpus = cluster.value().gpus()};
  report.result =
      run_replay(arguments, knobs, cluster.value(), trace.value(), std::move(failures).value());
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_rss_mb = peak_rss_mb();

  std::fputs(to_table(report).c_str(), stdout);
  for (auto& [path, text] :
       {std::pair(arguments.json, &to_json), std::pair(arguments.svg, &to_chart)}) {
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
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "trace", "Replays a job trace with the production controller and planner in virtual time.");
  command
      ->add_option("--cluster", arguments->cluster,
                   "NODESxGPUS (two zones, leaves of 20 nodes), or a CSV file of nodes "
                   "(node,group,zone,leaf,gpus) or of a topology (ip,DSW,PSW,ASW)")
      ->required();
  command
      ->add_option("--trace", arguments->trace,
                   "CSV file of jobs, may be gzipped: job_id,submit_s,gpus,duration_s, and "
                   "user,vc,... as far as known")
      ->required();
  command->add_option("--policy", arguments->policy, "who runs next")
      ->check(CLI::IsMember({"feedback", "fifo", "easy", "hai-open"}))
      ->capture_default_str();
  command
      ->add_option("--victims", arguments->victims,
                   "whom feedback and fifo interrupt, among those they may")
      ->check(CLI::IsMember({"least-lost-work", "youngest", "lowest-priority"}))
      ->capture_default_str();
  command->add_option("--failures", arguments->failures,
                      "CSV file of outages of nodes (node,start_s,end_s,...), repeated for ever");
  command
      ->add_option("--failure-servers", arguments->failure_servers,
                   "how many servers that file is about; they are laid over the nodes as often "
                   "as needed, each time with another time rotation")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--limit", arguments->choice.limit, "replay the first so many jobs")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  command->add_option("--from-day", arguments->choice.from_day, "leave out what comes before")
      ->check(CLI::Range(0.0, 3'650.0));
  command->add_option("--days", arguments->choice.days, "replay the submits of so many days")
      ->check(CLI::Range(0.001, 3'650.0));
  command
      ->add_option("--load", arguments->choice.load,
                   "divide submit times by it: 2 doubles the load")
      ->check(CLI::Range(0.001, 1'000.0))
      ->capture_default_str();
  command->add_option("--seed", arguments->fleet.seed, "of how jobs save and restart")
      ->capture_default_str();
  command->add_option("--knob", arguments->knobs, "NAME=VALUE, a scheduling knob; may be repeated");
  command
      ->add_option("--saves-when-asked", arguments->fleet.saves_when_asked,
                   "share of the jobs that save when asked to suspend; the others lose what they "
                   "did since their last checkpoint")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--json", arguments->json, "write the result to this file");
  command->add_option("--svg", arguments->svg, "draw the cluster over time into this file");
  command->add_flag("--quiet", arguments->quiet, "no progress on stderr");
  return [arguments] { return run(*arguments); };
}

}  // namespace hai
