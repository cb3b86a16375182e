#pragma once
// The evidence of one rank that hangs, as text for a person: which processes it has, what the GPUs
// and the network do, and the stacks of each process by the best means that the node has. Made in a
// process of its own (main.cpp); may take as long as its limits say.

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/machine/bounded_child.h"

namespace hai {

struct HangReportOptions {
  std::vector<pid_t> pids;
  std::vector<std::string> cgroups;  // of the rank
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string tool_path;        // folders to look for py-spy and gdb in
  Duration tool_patience{10s};  // of each look at one process
  Duration patience{45s};       // of all
  size_t bytes_max = 64 << 10;  // of the whole text
};

struct HangReport {
  std::string summary;  // one line: where each process is
  std::string text;
};

HangReport make_hang_report(const HangReportOptions& options);

}  // namespace hai
