#pragma once
// A replay's result for programs (JSON, words of the design) and for people (a table, a chart).

#include <string>

#include "sim/trace/replay.h"

namespace hai {

struct TraceReport {
  std::string policy;
  std::string cluster;
  std::string trace;
  std::string failures;  // "" = none
  uint64_t seed = 1;
  int64_t jobs = 0;
  int64_t unknown_duration = 0;
  int64_t too_large = 0;
  int64_t gpus = 0;
  double wall_s = 0;
  double peak_rss_mb = 0;
  ReplayResult result;
};

// "2.3 d", "4.1 h", "12.0 min" or "7 s".
std::string human_time(double seconds);

std::string to_json(const TraceReport& report);
std::string to_table(const TraceReport& report);
// An SVG picture of the cluster over time.
std::string to_chart(const TraceReport& report);

}  // namespace hai
