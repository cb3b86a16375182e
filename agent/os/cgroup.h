#pragma once
// Control groups of ranks: limits, and a grip on every process that no program can escape. cgroup
// v2, or the v1 hierarchies of hybrid hosts. Best effort: where they can't be used (not root,
// read-only) ranks run without.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hai {

struct CgroupLimits {
  int cpus = 0;              // 0 = no limit
  int64_t memory_bytes = 0;  // 0 = no limit
};

// Where this host's hierarchies are mounted; "" for those it does not have.
struct CgroupMounts {
  std::string unified;  // v2
  bool unified_has_controllers = false;
  std::string cpu;  // v1
  std::string memory;
  std::string pids;
};
CgroupMounts find_cgroup_mounts();

class CgroupHost {
 public:
  // Groups are named PARENT/PREFIX.NAME in each hierarchy; prefix tells agents of one machine
  // apart.
  CgroupHost(CgroupMounts mounts, std::string parent, std::string prefix);

  // The group's directories, one per hierarchy; empty if there are none to use. A second call for
  // one name gives the same.
  std::vector<std::string> create(std::string_view name, CgroupLimits limits);
  // All directories with our prefix whose name `keep` does not list are emptied by force and
  // removed.
  void remove_others(const std::vector<std::string>& keep);

 private:
  std::vector<std::string> hierarchies(CgroupLimits limits) const;

  CgroupMounts mounts_;
  std::string parent_;
  std::string prefix_;
};

// These take what create() gave.
void kill_cgroups(const std::vector<std::string>& directories);  // SIGKILL to every process in them
std::vector<pid_t> cgroup_processes(const std::vector<std::string>& directories);
// How often the kernel killed a process of the group because its memory was used up.
int64_t memory_kills(const std::vector<std::string>& directories);
void remove_cgroups(const std::vector<std::string>& directories);  // only if empty of processes

}  // namespace hai
