#pragma once
// The counters that signs of a hang are told from (common/hang_signs.h), as cheap reads of files.
// GPU utilisation is not here: the health checks have it from NVML anyway.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai {

// CPU time that a rank has used: of its control groups if they count it, else of its processes and
// of those that these have waited for. The latter shrinks when a process ends that nobody waits
// for. None if nothing can be read.
std::optional<Duration> rank_cpu_time(const std::vector<std::string>& cgroups,
                                      const std::vector<pid_t>& pids,
                                      const std::string& proc_root = "/proc");

// Bytes that the node's InfiniBand and RoCE ports have received; none if it has no such port.
std::optional<int64_t> received_bytes(const std::string& sys_root,
                                      const std::vector<std::string>& excluded_devices);

}  // namespace hai
