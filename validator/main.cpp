// hai-validator: tests one node, or several as the ranks of one job, and says what it measured.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/os/files.h"
#include "common/version.h"
#include "validator/node_model.h"
#include "validator/place.h"
#include "validator/report.h"
#include "validator/stopwatch.h"

namespace hai::validator {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct Options {
  Settings settings;
  std::vector<std::string> tests;
  std::string seconds;
  std::string patience;
  std::string json;
};

void add_options(CLI::App& app, Options& options) {
  std::string tests;
  for (const NamedTest& test : all_tests())
    tests += fmt::format("\n  {:<11} {}", test.name, test.what);
  app.description(
      "Tests a node. As the entrypoint of a job of several nodes its ranks also test "
      "the network between them.\nTests:" +
      tests);
  app.footer("Exit code: 0 all right; 1 a test failed; 2 usage. The last line on stdout is \"" +
             std::string(kReportPrefix) + "\" and the report as JSON.");
  app.set_version_flag("--version", std::string(version()));
  app.add_option("--tests", options.tests, "only these, separated by commas")->delimiter(',');
  app.add_flag("--quick", options.settings.is_quick,
               "small sizes and a second per test: less than a minute in all");
  app.add_option("--seconds", options.seconds,
                 "time to measure per test, such as 30s or 5m (60s; with --quick 1s)");
  app.add_option("--json", options.json,
                 "write the report as JSON to this file; - = to stdout, and nothing else");
  app.add_option("--dir", options.settings.directory,
                 "directory of the storage test ($TMPDIR, or /tmp)");
  app.add_option("--storage-bytes", options.settings.storage_bytes,
                 "size of its file (4 GiB; with --quick 256 MiB; at most a tenth of what is free)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--memory-bytes", options.settings.memory_bytes,
                 "memory of the bandwidth test (a sixteenth of what is free, at most 8 GiB)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--exchange-bytes", options.settings.exchange_bytes,
                 "size of the all-reduce between ranks (256 MiB; with --quick 16 MiB)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cpus", options.settings.cpus, "use only so many CPUs")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--gpu-memory-share", options.settings.gpu_memory_share,
                 "of the free memory of each GPU to test (0.95)")
      ->check(CLI::Range(0.01, 0.99));
  app.add_option("--patience", options.patience,
                 "how long to wait for the other ranks (5m; with --quick 30s)");
  app.add_option("--sys-root", options.settings.sys_root, "stands for /sys");
  app.add_option("--proc-root", options.settings.proc_root, "stands for /proc");
  app.add_option("--nvml-library", options.settings.nvml_library, "stands for libnvidia-ml.so.1");
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status complete(Options& options) {
  Settings& settings = options.settings;
  settings.seconds = settings.is_quick ? 1s : 60s;
  // The tests before may take longer on one node than on another.
  settings.patience = settings.is_quick ? Duration(30s) : Duration(5min);
  if (!options.seconds.empty()) {
    const Result<Duration> seconds = parse_duration(options.seconds);
    if (!seconds.is_ok()) return invalid_argument("--seconds: {}", seconds.status().message());
    settings.seconds = seconds.value();
  }
  if (!options.patience.empty()) {
    const Result<Duration> patience = parse_duration(options.patience);
    if (!patience.is_ok()) return invalid_argument("--patience: {}", patience.status().message());
    settings.patience = patience.value();
  }
  if (settings.directory.empty()) settings.directory = variable("TMPDIR");
  if (settings.directory.empty()) settings.directory = "/tmp";
  for (const std::string& name : options.tests) {
    const auto& tests = all_tests();
    if (std::none_of(tests.begin(), tests.end(), [&](auto& test) { return test.name == name; }))
      return invalid_argument("--tests: there is no test \"{}\"", name);
  }
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const Result<Place> place = read_place(variable, host);
  if (!place.is_ok()) return place.status();
  settings.place = place.value();
  return ok();
}

Report run_tests(const Options& options) {
  const Settings& settings = options.settings;
  Report report{.node = settings.place.node,
                .model = node_model(settings.sys_root, settings.proc_root),
                .profile = settings.is_quick ? "quick" : "full"};
  const auto say = [&](const std::string& text) {
    if (options.json == "-") return;
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  say(format_head(report));
  const Stopwatch watch;
  for (const NamedTest& test : all_tests()) {
    const bool is_wanted =
        options.tests.empty() ||
        std::find(options.tests.begin(), options.tests.end(), test.name) != options.tests.end();
    if (!is_wanted) continue;
    for (Measurement& measurement : test.run(settings)) {
      say(format_row(measurement));
      report.measurements.push_back(std::move(measurement));
    }
  }
  report.seconds = watch.seconds();
  return report;
}

int run(int argc, char** argv) {
  CLI::App app;
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (const Status status = complete(options); !status.is_ok()) {
    fmt::print(stderr, "hai-validator: {}\n", status.message());
    return kUsage;
  }
  const Report report = run_tests(options);
  const std::string json = format_json(report);
  if (options.json == "-") {
    fmt::print("{}\n", json);
  } else {
    fmt::print("{}{}{}\n", format_end(report), kReportPrefix, json);
  }
  int code = verdict_of(report) == Verdict::fail ? kFailed : 0;
  if (!options.json.empty() && options.json != "-") {
    const Status written =
        write_file_atomic(options.json, json + "\n", 0644, Durability::survives_crash_of_program);
    if (!written.is_ok()) {
      fmt::print(stderr, "hai-validator: {}\n", written.message());
      code = kFailed;
    }
  }
  return code;
}

}  // namespace
}  // namespace hai::validator

int main(int argc, char** argv) { return hai::validator::run(argc, argv); }
