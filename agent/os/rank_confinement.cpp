#include "agent/os/rank_confinement.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace hai {

namespace {

// So that whoever has one GPU of many can still start a shell, Python and its threads.
constexpr int64_t kProcessesLeast = 256;

}  // namespace

std::optional<std::set<std::string>> nics_of(GpuSet gpus, const NodeShape& node) {
  const bool is_whole = gpus.count() >= node.gpus;
  const bool is_known = gpus.count() == 0 || !node.gpu_places.empty();
  if (is_whole || !is_known) return std::nullopt;
  std::set<std::string> nics;
  for (int gpu = 0; gpu < static_cast<int>(node.gpu_places.size()); ++gpu) {
    if (gpus.contains(gpu)) nics.insert(node.gpu_places[static_cast<size_t>(gpu)].nic);
  }
  return nics;
}

CgroupLimits rank_limits(const LaunchRank& order, const ConfinementSettings& settings,
                         const NodeShape& node) {
  CgroupLimits limits = {.cpus = order.cpus, .memory_bytes = order.memory_bytes};
  if (settings.isolation == Isolation::none) return limits;
  const int64_t gpus = order.gpus.count();
  const bool is_part = gpus > 0 && gpus < node.gpus;
  const auto share = [&](int64_t whole) { return is_part ? whole / node.gpus * gpus : whole; };
  if (limits.memory_bytes == 0 && is_part) limits.memory_bytes = share(node.memory_bytes);
  if (settings.processes_max > 0) {
    const int64_t least = std::min<int64_t>(kProcessesLeast, settings.processes_max);
    limits.processes = static_cast<int>(std::max(least, share(settings.processes_max)));
  }
  limits.devices = device_rules({.gpus = order.gpus,
                                 .gpu_minors = node.gpu_minors,
                                 .nics = nics_of(order.gpus, node),
                                 .more = settings.devices,
                                 .sys_root = node.sys_root});
  return limits;
}

Powers find_powers(CgroupHost& cgroups) {
  const RankCgroups probe =
      cgroups.create("probe", {.processes = 1, .devices = std::vector<DeviceRule>()});
  remove_cgroups(probe.directories);
  return {.mounts = can_make_mounts(),
          .process_limits = probe.limits_processes,
          .device_filters = probe.filters_devices};
}

Status check_groups(const RankCgroups& made, const CgroupLimits& limits, const Powers& powers) {
  if (limits.devices && powers.device_filters && !made.filters_devices) {
    return unavailable("the node cannot filter the rank's devices any more (control groups)");
  }
  if (limits.processes > 0 && powers.process_limits && !made.limits_processes) {
    return unavailable("the node cannot limit the rank's processes any more (control groups)");
  }
  return ok();
}

Confinement rank_confinement(const LaunchFile& launch, const ConfinementSettings& settings,
                             const Powers& powers, const std::string& python_dir) {
  Confinement confinement = {.system_users = settings.system_users};
  if (settings.isolation == Isolation::none) return confinement;
  confinement.drops_privileges = true;
  confinement.allowed_calls = settings.allowed_calls;
  if (settings.isolation != Isolation::strict || !powers.mounts) return confinement;
  confinement.has_own_mounts = true;
  std::vector<std::string> used = {launch.workspace, launch.log_dir, launch.socket_dir, python_dir};
  if (launch.entrypoint.starts_with('/'))
    used.push_back(std::filesystem::path(launch.entrypoint).parent_path());
  confinement.kept_paths = paths_to_keep(used);
  return confinement;
}

std::vector<std::string> missing_confinement(const ConfinementSettings& settings,
                                             const Powers& powers) {
  if (::geteuid() != 0) {
    return {
        "hai-agent is not root: ranks run as its own user, with all devices and without limits"};
  }
  std::vector<std::string> missing;
  if (settings.isolation == Isolation::none) return missing;
  if (settings.isolation == Isolation::strict && !powers.mounts) {
    missing.push_back("ranks share /tmp, /dev/shm and /proc: no mounts (CAP_SYS_ADMIN, Linux 5.8)");
  }
  if (!powers.device_filters) {
    missing.push_back("ranks can open what permissions let them: no filter of devices (cgroups)");
  }
  if (!powers.process_limits) {
    missing.push_back("ranks can start any number of processes: no controller pids (cgroups)");
  }
  return missing;
}

}  // namespace hai
