#pragma once
// Control groups of ranks: limits, which devices can be opened, and a grip on every process that no
// program can escape. cgroup v2, or the v1 hierarchies of hybrid hosts. Best effort: where they
// can't be used (not root, read-only) ranks run without.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/os/device_rules.h"
#include "common/status.h"

namespace hai {

struct CgroupLimits {
  int cpus = 0;                                    // 0 = no limit
  int64_t memory_bytes = 0;                        // 0 = no limit
  int processes = 0;                               // 0 = no limit; threads count
  std::optional<std::vector<DeviceRule>> devices;  // none = all that permissions allow
};

// Where this host's hierarchies are mounted; "" for those it does not have.
struct CgroupMounts {
  std::string unified;  // v2
  bool unified_has_controllers = false;
  std::string cpu;  // v1
  std::string memory;
  std::string pids;
  std::string devices;
};
CgroupMounts find_cgroup_mounts();

struct RankCgroups {
  std::vector<std::string> directories;  // one per hierarchy; empty if there are none to use
  bool filters_devices = false;
  bool limits_processes = false;
};

// Names with / between, from the root of the hierarchies: "hai", "hai.slice/hai-ranks.service".
bool is_cgroup_path(std::string_view path);

class CgroupHost {
 public:
  // Groups are named PARENT/PREFIX.NAME in each hierarchy; prefix tells agents of one machine
  // apart. `parent` is a cgroup path; where systemd manages the hierarchies, one that it has
  // delegated, else it takes controllers away again.
  CgroupHost(CgroupMounts mounts, std::string parent, std::string prefix);

  // A second call for one name gives the same directories.
  RankCgroups create(std::string_view name, const CgroupLimits& limits);
  // All directories with our prefix whose name `keep` does not list are emptied by force and
  // removed.
  void remove_others(const std::vector<std::string>& keep);

 private:
  std::vector<std::string> hierarchies(const CgroupLimits& limits) const;
  std::string make_group(const std::string& root, std::string_view name) const;
  bool filter(const std::string& directory, const std::vector<DeviceRule>& rules) const;

  CgroupMounts mounts_;
  std::string parent_;
  std::string prefix_;
};

// These take the directories that create() gave.
void kill_cgroups(const std::vector<std::string>& directories);  // SIGKILL to every process in them
std::vector<pid_t> cgroup_processes(const std::vector<std::string>& directories);
// How often the kernel killed a process of the group because its memory was used up.
int64_t memory_kills(const std::vector<std::string>& directories);
// How much memory its processes may use together; 0 = no limit that is known.
int64_t memory_limit(const std::vector<std::string>& directories);
void remove_cgroups(const std::vector<std::string>& directories);  // only if empty of processes
// Moves a process with its threads into each. failed_precondition if one is no group of a mounted
// hierarchy; not_found if one, or the process, is gone: it may be in the first ones then.
Status move_into_cgroups(pid_t pid, const std::vector<std::string>& directories);

}  // namespace hai
