#pragma once
// What a user submits, after parsing and before admission. Field by field as in docs/contract.md,
// Job file; units are in the names or types. common/spec reads it from YAML; the server judges it
// against the cluster.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/node_filter.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

// The numbers are HAI's. `automatic` (-1) takes the highest level with quota free.
enum class Priority {
  automatic = -1,
  low = 0,
  below_normal = 5,
  under_normal = 8,
  normal = 10,
  above_normal = 20,
  high = 30,
  very_high = 40,
  extreme_high = 50,
};
inline constexpr Priority kPriorities[] = {Priority::extreme_high, Priority::very_high,
                                           Priority::high,         Priority::above_normal,
                                           Priority::normal,       Priority::under_normal,
                                           Priority::below_normal, Priority::low};  // highest first

std::string_view to_string(Priority priority);  // "auto", "low", … "extreme_high"
// A word or HAI's number as text; the error lists what is allowed.
Result<Priority> parse_priority(std::string_view text);

enum class LaunchMode { per_node, per_gpu };
enum class EnvStyle { hai, torch, slurm };
enum class CrossZone { allow, never };
std::string_view to_string(LaunchMode mode);
std::string_view to_string(EnvStyle style);
std::string_view to_string(CrossZone cross_zone);

struct SuspendOptions {
  static constexpr std::string_view kNoSignal = "none";

  Duration grace = 60s;  // max time to save, 0s .. 1h
  // A name such as "SIGUSR1", kNoSignal, or "": SIGTERM, if no rank uses the SDK.
  std::string signal;
  int exit_code = 85;  // 1..255

  bool has_signal() const { return !signal.empty() && signal != kNoSignal; }
  bool operator==(const SuspendOptions&) const = default;
};

struct RestartOptions {
  bool on_failure = false;
  int max = 3;
  bool operator==(const RestartOptions&) const = default;
};

inline constexpr int64_t kUnlimited = -1;  // of a size
// Of gpus_per_node: a job without GPUs. In a job file `none`, as 0 is the whole node.
inline constexpr int kNoGpus = -1;

// What a job file says to the process that becomes the program, and nobody on the way there judges:
// a launch order and its launch.json carry it as it is, and the shim heeds it
// (agent/shim/program.cpp). Numbers of 64 bits, whose 0 is the default, and lists of texts.
struct ProgramOptions {
  int64_t core_size = 0;  // bytes of a core dump, or kUnlimited
  // Folders of the node that a job in an image sees: "FROM[:TO][:ro]" (common/image.h).
  std::vector<std::string> mounts;
  // Ports of its programs by name (common/job_service.h).
  std::vector<std::string> services;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("core_size", self.core_size);
    visit("mounts", self.mounts);
    visit("services", self.services);
  }
  bool operator==(const ProgramOptions&) const = default;
};

struct JobSpec {
  std::string name;
  Priority priority = Priority::automatic;
  // A job of many tasks: their numbers, as common/array_range.h reads them; "" = it is none.
  std::string array;

  std::string workspace;   // absolute path
  std::string entrypoint;  // relative to workspace, or absolute
  std::string parameters;  // split like a POSIX shell splits words, without any expansion
  std::map<std::string, std::string> environments;
  std::map<std::string, std::string> secrets;  // variable → name of a secret of the submitter's

  std::string group = "training";
  std::string zone;  // from "group#ZONE"; "" = any
  int node_count = 1;
  int gpus_per_node = 0;              // 0 = the whole node, exclusively; kNoGpus; else a share
  int cpus_per_node = 0;              // 0 = in proportion to the GPUs; without GPUs 1
  int64_t memory_per_node_bytes = 0;  // 0 = in proportion to the GPUs; without, to the CPUs
  NodeFilter node_filter;             // of the group's nodes only such
  std::string image;  // the container image its ranks run in (common/image.h); "" = the node itself

  LaunchMode launch = LaunchMode::per_node;
  EnvStyle env_style = EnvStyle::hai;
  SuspendOptions suspend;
  Duration checkpoint_period = 5min;
  RestartOptions restart;
  Duration timeout{0};
  Duration watchdog = 30min;
  int max_leaves = 0;
  CrossZone cross_zone = CrossZone::allow;
  // Once it runs with GPUs nobody is given its nodes: a person sits in it. The knobs
  // interactive_nodes and interactive_nodes_per_user say how many nodes such jobs may have.
  bool is_interactive = false;
  // A rank that ends with code 0 gives its place back while others still run.
  bool releases_early = false;
  // Those who share a user group with its owner read its logs, too.
  bool is_shared_in_group = false;
  std::vector<std::string> tags;
  std::vector<std::string> depends_on;  // job names or ids
  std::optional<UnixTime> begin_at;
  ProgramOptions program;
  bool is_validation = false;  // the platform's own: runs the node's validator where it is put

  bool asks_gpus() const { return gpus_per_node != kNoGpus; }
  bool operator==(const JobSpec&) const = default;
};

}  // namespace hai
