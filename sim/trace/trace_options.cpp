#include "sim/trace/trace_options.h"

#include <CLI/CLI.hpp>

namespace hai {

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command
      .add_option("--cluster", options.cluster,
                  "NODESxGPUS (two zones, leaves of 20 nodes), or a CSV file of nodes "
                  "(node,group,zone,leaf,gpus) or of a topology (ip,DSW,PSW,ASW)")
      ->required();
  command
      .add_option("--trace", options.trace,
                  "CSV file of jobs, may be gzipped: job_id,submit_s,gpus,duration_s, and "
                  "user,vc,... as far as known")
      ->required();
  command.add_option("--policy", options.policy, "who runs next")
      ->check(CLI::IsMember({"feedback", "fifo", "easy", "hai-open"}))
      ->capture_default_str();
  command
      .add_option("--victims", options.victims,
                  "whom feedback and fifo interrupt, among those they may")
      ->check(CLI::IsMember({"least-lost-work", "youngest", "lowest-priority"}))
      ->capture_default_str();
  command.add_option("--failures", options.failures,
                     "CSV file of outages of nodes (node,start_s,end_s,...), repeated for ever");
  command
      .add_option("--failure-servers", options.failure_servers,
                  "how many servers that file is about; they are laid over the nodes as often "
                  "as needed, each time with another time rotation")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--limit", options.choice.limit, "replay the first so many jobs")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  command.add_option("--from-day", options.choice.from_day, "leave out what comes before")
      ->check(CLI::Range(0.0, 3'650.0));
  command.add_option("--days", options.choice.days, "replay the submits of so many days")
      ->check(CLI::Range(0.001, 3'650.0));
  command
      .add_option("--load", options.choice.load, "divide submit times by it: 2 doubles the load")
      ->check(CLI::Range(0.001, 1'000.0))
      ->capture_default_str();
  command.add_option("--seed", options.fleet.seed, "of how jobs save and restart")
      ->capture_default_str();
  command.add_option("--knob", options.knobs, "NAME=VALUE, a scheduling knob; may be repeated");
  command
      .add_option("--saves-when-asked", options.fleet.saves_when_asked,
                  "share of the jobs that save when asked to suspend; the others lose what they "
                  "did since their last checkpoint")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--json", options.json, "write the result to this file");
  command.add_option("--svg", options.svg, "draw the cluster over time into this file");
  command.add_option("--log", options.log,
                     "write all events to this file (.gz: compressed), for hai-sim replay");
  command.add_flag("--quiet", options.quiet, "no progress on stderr");
}

}  // namespace hai
