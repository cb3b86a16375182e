#pragma once
// The options of `hai-sim trace`.

#include <string>
#include <vector>

#include "sim/trace/fleet.h"
#include "sim/trace/trace_file.h"

namespace CLI {
class App;
}

namespace hai {

struct TraceOptions {
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
  std::string log;
  bool quiet = false;
};

void add_trace_options(CLI::App& command, TraceOptions& options);

}  // namespace hai
