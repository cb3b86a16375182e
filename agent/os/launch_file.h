#pragma once
// launch.json: everything a shim needs to hold one rank, written by the agent before it starts the
// shim.

#include <string>
#include <string_view>
#include <vector>

#include "agent/core/environment.h"
#include "agent/os/confinement.h"
#include "agent/os/image_file.h"
#include "common/agent_messages.h"
#include "common/status.h"

namespace hai {

// Of programs that nobody gave another.
inline constexpr const char* kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct LaunchProcess {
  std::vector<std::string> argv;
  Environment environment;
  bool operator==(const LaunchProcess&) const = default;
};

struct LogLimits {
  int64_t total_bytes_max = 64 << 20;
  int64_t file_bytes_max = 8 << 20;
  bool operator==(const LogLimits&) const = default;
};

struct LaunchFile {
  RankKey key;
  std::string proof;  // of the order
  std::string user;
  bool unknown_user_runs_as_self = false;
  std::string workspace;
  std::string entrypoint;  // absolute, or a program name to be found in PATH
  std::vector<LaunchProcess> processes;
  GpuSet gpus;             // of the node
  int suspend_signal = 0;  // 0 = none
  Duration watchdog{0};
  MonoTime lease_until{};  // by boot_now()
  std::string whole_life_state;
  std::string log_dir;
  LogLimits log_limits;
  std::string socket_dir;
  std::string temp_dir;
  ProgramOptions program;
  std::vector<std::string> cgroups;  // directories the rank's processes join
  std::vector<int> cpus;             // that it stays on; empty = all
  Confinement confinement;
  std::string image;     // that it runs in, "" = the node itself
  ImageSettings images;  // of this node
  bool operator==(const LaunchFile&) const = default;
};

inline constexpr size_t kLaunchFileBytesMax = 16 << 20;

// Fails on parameters with an open quote, an unknown signal, a relative workspace or no entrypoint.
Result<LaunchFile> make_launch_file(const LaunchRank& order, const LocalPaths& paths);

std::string launch_file_to_json(const LaunchFile& launch);
Result<LaunchFile> launch_file_from_json(std::string_view text);

}  // namespace hai
