#include "sim/year/year_command.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>

#include "sim/year/year.h"
#include "sim/year/year_report.h"

namespace hai {
namespace {

constexpr int kUsageError = 2;
constexpr int kFailureServers = 400;  // of the log of InfiniteHBD

struct YearArguments {
  YearOptions year;
  int nodes = 1'250;
  int gpus = 8;
  int long_job_nodes = -1;
  std::string failures;
  int failure_servers = kFailureServers;
  std::vector<std::string> knobs;
  std::string json;
  bool quiet = false;
};

int refuse(const std::string& what) {
  std::fprintf(stderr, "hai-sim: %s\n", what.c_str());
  return kUsageError;
}

Status set_knobs(const YearArguments& arguments, Knobs& knobs) {
  knobs = year_knobs();
  for (const std::string& text : arguments.knobs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalid_argument("--knob: must be NAME=VALUE, is '{}'", text.substr(0, 64));
    const std::string name = text.substr(0, equals);
    if (name == "server_lease")
      return invalid_argument("--knob: server_lease means nothing here: no server fails");
    RETURN_IF_ERROR(set_knob(knobs, name, text.substr(equals + 1)));
  }
  Knobs checked = knobs;
  checked.server_lease = Knobs().server_lease;
  return check_knobs(checked);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int run(YearArguments arguments) {
  const auto start = std::chrono::steady_clock::now();
  if (Status status = set_knobs(arguments, arguments.year.knobs); !status.is_ok())
    return refuse(status.message());
  auto cluster = read_cluster(fmt::format("{}x{}", arguments.nodes, arguments.gpus));
  if (!cluster.is_ok()) return refuse(cluster.status().message());
  auto failures = arguments.failures.empty() ? Result<Failures>(Failures())
                                             : read_failures(arguments.failures, arguments.nodes,
                                                             arguments.failure_servers);
  if (!failures.is_ok()) return refuse(failures.status().message());
  const int most = (arguments.nodes + 1) / 2;
  arguments.year.long_job_nodes =
      arguments.long_job_nodes >= 0 ? arguments.long_job_nodes : std::min(128, most / 4);
  if (arguments.year.long_job_nodes > most)
    return refuse(fmt::format("--long-job: a zone has {} nodes, {} are asked for", most,
                              arguments.year.long_job_nodes));
  if (!arguments.quiet) {
    arguments.year.progress = [days = arguments.year.days](double day) {
      if (static_cast<int64_t>(day) % 30 == 0)
        fmt::print(stderr, "day {:.0f} of {:.0f}\n", day, days);
    };
  }
  YearReport report{.nodes = arguments.nodes,
                    .gpus_per_node = arguments.gpus,
                    .seed = arguments.year.seed,
                    .failures = arguments.failures};
  report.measures = run_year(cluster.value(), std::move(failures).value(), arguments.year);
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_rss_mb = peak_rss_mb();
  std::fputs(to_table(report).c_str(), stdout);
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json, std::ios::binary);
    file << to_json(report);
    file.close();
    if (!file) return refuse(arguments.json + ": can't be written");
  }
  return report.measures.long_job.has_failed ? 1 : 0;
}

}  // namespace

std::function<int()> add_year_command(CLI::App& app) {
  auto arguments = std::make_shared<YearArguments>();
  CLI::App* command = app.add_subcommand(
      "year", "Lets hardware fail at Fire-Flyer's rates for a year, and measures what it costs.");
  command->add_option("--days", arguments->year.days, "length of the year")
      ->check(CLI::Range(0.1, 3650.0))
      ->capture_default_str();
  command->add_option("--nodes", arguments->nodes, "nodes, in two zones and leaves of 20")
      ->check(CLI::Range(2, 20'000))
      ->capture_default_str();
  command->add_option("--gpus", arguments->gpus, "GPUs of each node")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--seed", arguments->year.seed, "of all that is drawn")
      ->capture_default_str();
  command
      ->add_option("--long-job", arguments->long_job_nodes,
                   "nodes of the job that runs all the time (default: 128, or a quarter of a "
                   "smaller zone; 0 = none)")
      ->check(CLI::Range(0, 20'000));
  command->add_option("--failures", arguments->failures,
                      "CSV file of real outages (node,start_s,end_s,...), instead of Fire-Flyer's "
                      "rates");
  command
      ->add_option("--failure-servers", arguments->failure_servers,
                   "how many servers the outages' file is about")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--knob", arguments->knobs,
                      "NAME=VALUE, a knob of the server; may be given often");
  command->add_option("--json", arguments->json, "write the result to this file");
  command->add_flag("-q,--quiet", arguments->quiet, "no progress");
  return [arguments] { return run(*arguments); };
}

}  // namespace hai
