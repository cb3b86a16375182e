// hai-hang-evidence: looks at the processes of a rank that hangs and says where they are. A program
// of its own, so that nothing it looks at can hang the agent (agent/hang/evidence_run.h). Prints
// one line of summary, then the evidence.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "agent/hang/hang_report.h"
#include "agent/os/cgroup.h"
#include "agent/os/process_table.h"

namespace {

struct Options {
  std::vector<pid_t> pids;
  std::vector<pid_t> below;
  std::vector<std::string> cgroups;
  std::string patience;
  std::string tool_patience;
};

void add_options(CLI::App& app, Options& options, hai::HangReportOptions& report) {
  app.add_option("--pid", options.pids, "a process, with all below it");
  app.add_option("--below", options.below, "all below a process, such as a rank's shim");
  app.add_option("--cgroup", options.cgroups, "all in the control group of this directory");
  app.add_option("--patience", options.patience, "for everything (45s)");
  app.add_option("--tool-patience", options.tool_patience,
                 "for each look at a process by py-spy or gdb, which stop it meanwhile (10s)");
  app.add_option("--bytes", report.bytes_max, "of evidence at most (65536)")
      ->check(CLI::Range(1024, 1 << 20));
  app.add_option("--tool-path", report.tool_path, "where to look for py-spy and gdb ($PATH)");
  app.add_option("--sys-root", report.sys_root, "stands for /sys");
  app.add_option("--nvml-library", report.nvml_library, "stands for libnvidia-ml.so.1");
}

void gather(const Options& options, std::vector<pid_t>& pids) {
  pids = options.pids;
  for (const pid_t pid : options.pids) {
    for (const pid_t child : hai::descendants_of(pid)) pids.push_back(child);
  }
  for (const pid_t pid : options.below) {
    for (const pid_t child : hai::descendants_of(pid)) pids.push_back(child);
  }
  for (const pid_t pid : hai::cgroup_processes(options.cgroups)) pids.push_back(pid);
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

bool read_duration(const std::string& text, hai::Duration& out) {
  if (text.empty()) return true;
  const hai::Result<hai::Duration> duration = hai::parse_duration(text);
  if (duration.is_ok()) out = duration.value();
  return duration.is_ok();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Where the processes of a rank are: stacks by py-spy, gdb and the kernel.");
  Options options;
  hai::HangReportOptions report;
  add_options(app, options, report);
  CLI11_PARSE(app, argc, argv);
  if (!read_duration(options.patience, report.patience) ||
      !read_duration(options.tool_patience, report.tool_patience)) {
    fmt::print(stderr, "hai-hang-evidence: no duration\n");
    return 2;
  }
  if (report.tool_path.empty()) {
    const char* path = std::getenv("PATH");
    report.tool_path = path == nullptr ? "" : path;
  }
  gather(options, report.pids);
  report.cgroups = options.cgroups;
  const hai::HangReport made = hai::make_hang_report(report);
  fmt::print("{}\n{}", made.summary, made.text);
  return 0;
}
