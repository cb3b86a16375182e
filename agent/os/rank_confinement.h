#pragma once
// What a node's settings mean for one rank, and what of them this machine cannot do.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/os/cgroup.h"
#include "agent/os/confinement.h"
#include "agent/os/gpu_places.h"
#include "agent/os/launch_file.h"

namespace hai {

// What the ranks of a node have their shares of.
struct NodeShape {
  int gpus = 0;
  int64_t memory_bytes = 0;
  std::vector<int> gpu_minors;       // see DeviceNeeds
  std::vector<GpuPlace> gpu_places;  // empty = not known
  std::string sys_root = "/sys";
};

// A rank with some of the GPUs gets so much of the processes, and of the memory if its job asked
// for none. One with all of them shares the node with nobody.
CgroupLimits rank_limits(const LaunchRank& order, const ConfinementSettings& settings,
                         const NodeShape& node);

// The RDMA devices beside its GPUs: none of a rank without GPUs on a node that has some; nullopt =
// all, of a rank with the whole node, and where it is not known which are beside which.
std::optional<std::set<std::string>> nics_of(GpuSet gpus, const NodeShape& node);

struct Powers {
  bool mounts = false;
  bool process_limits = false;
  bool device_filters = false;
};
// Tries them.
Powers find_powers(CgroupHost& cgroups);

// An error if a rank's groups are less than the node was found to make: what was promised at the
// agent's start is kept for each rank, or the rank does not start.
Status check_groups(const RankCgroups& made, const CgroupLimits& limits, const Powers& powers);

Confinement rank_confinement(const LaunchFile& launch, const ConfinementSettings& settings,
                             const Powers& powers, const std::string& python_dir);

// A sentence each, in the order of importance.
std::vector<std::string> missing_confinement(const ConfinementSettings& settings,
                                             const Powers& powers);

}  // namespace hai
