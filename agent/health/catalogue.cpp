#include "agent/health/catalogue.h"

#include <fmt/core.h>

#include "agent/health/health_limits.h"

namespace hai {

namespace {

constexpr CheckInfo kChecks[] = {
    {"gpu_count", "gpu", "NVML",
     "fewer than expected or than ever were listed, or NVML does not start: fail evict; more: "
     "warn"},
    {"gpu_state", "gpu", "NVML: any call about the GPU",
     "lost, needs a reset, does not answer in time: fail evict"},
    {"gpu_recovery_action", "gpu", "NVML: field 230",
     "reset, reboot, drain and reset: fail drain; recover the IMEX domain: fail validate; "
     "drain peer to peer: warn"},
    {"gpu_remapped_rows", "gpu", "NVML: remapped rows",
     "failed: fail evict; pending: fail drain; gpu_remapped_rows uncorrectable: warn"},
    {"gpu_ecc", "gpu", "NVML: ECC mode and counters",
     "any uncorrectable since the driver was loaded: fail evict; off, more corrected than "
     "gpu_sram_corrected or gpu_dram_corrected: warn"},
    {"gpu_clocks", "gpu", "NVML: clock event reasons 0xe8",
     "gpu_slowdown_samples samples in gpu_slowdown_minutes: fail drain"},
    {"gpu_temperature", "gpu", "NVML", "above gpu_temperature_celsius: warn"},
    {"gpu_pcie_link", "gpu", "NVML: PCIe width and generation",
     "fewer lanes than expected: fail evict; lower generation in two samples under load: fail "
     "validate"},
    {"gpu_pcie_replays", "gpu", "NVML", "more than gpu_replays_per_minute: warn"},
    {"gpu_nvlink", "gpu", "NVML: state and error counters of each link",
     "fewer active than expected, or one that ever was active is not: fail drain, with "
     "NVSwitches fail evict, in nvlink_start_seconds warn; two samples in gpu_slowdown_minutes "
     "with replays, recoveries or "
     "nvlink_crc_per_second: fail validate; one, or only some active and nothing expected: "
     "warn"},
    {"gpu_stray_process", "gpu", "NVML: compute processes",
     "processes of no rank on a GPU that no rank uses for gpu_stray_seconds: fail validate; "
     "sooner: warn"},
    {"gpu_xid", "kernel_log", "kernel log: NVRM: Xid", "deploy/health/xid.csv"},
    {"nvswitch_sxid", "kernel_log", "kernel log: SXid", "deploy/health/xid.csv"},
    {"kernel_log", "kernel_log", "/dev/kmsg",
     "overwritten before it was read, or the file of its faults damaged: warn"},
    {"disk_error", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"file_handles", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"filesystem_error", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"ib_adapter", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"kernel_bug", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"kernel_hung_task", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"kernel_lockup", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"machine_check", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"mount_lines", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"oom_kill", "kernel_log", "kernel log", "deploy/health/kernel.csv"},
    {"ib_link", "ib", "/sys/class/infiniband/*/ports/*/{state,phys_state,rate}",
     "not ACTIVE or gone for ib_down_seconds: fail evict; sooner: warn; a rate below the "
     "expected or the best it had: fail validate"},
    {"ib_flaps", "ib", "counters/{link_downed,link_error_recovery}",
     "ib_flaps losses of the link in ib_flap_minutes: fail drain; any, or more than "
     "ib_recoveries recoveries: warn"},
    {"ib_errors", "ib", "counters/{symbol_error,port_rcv_errors}",
     "more than ib_symbol_errors_per_minute: warn"},
    {"ib_traffic", "ib", "counters/port_rcv_data",
     "nothing for ib_idle_minutes under a job of several nodes: warn"},
    {"mount", "mounts", "/proc/mounts, statfs in a child process",
     "not mounted, read-only, an error, or mount_silences times no answer: fail drain; fewer: "
     "unknown"},
    {"disk_space", "mounts", "statfs in a child process",
     "less free than disk_free_megabytes, no inode, or become read-only: fail drain; less "
     "than disk_free_percent or disk_free_inodes_percent: warn"},
    {"log_store", "log_store", "what bringing logs to logs.store of agent.yaml says",
     "not mounted, full, or an error: warn"},
    {"disk_stuck", "disks", "/proc/diskstats",
     "requests waiting and none finished for disk_stuck_seconds, or a named disk gone: fail "
     "drain"},
    {"cpu_count", "host", "/sys/devices/system/cpu/{online,present}",
     "fewer than expected or present: fail validate"},
    {"memory_size", "host", "/proc/meminfo", "below memory_percent of the expected: fail validate"},
    {"memory_free", "host", "/proc/meminfo",
     "less than memory_free_percent available while no rank runs: warn"},
    {"memory_errors", "host", "/sys/devices/system/edac/mc/*/{ce_count,ue_count}",
     "any uncorrectable since boot: fail drain; more corrected than "
     "memory_corrected_per_hour: warn"},
    {"clock_source", "host", "/sys/devices/system/clocksource/clocksource0",
     "not the expected; without one hpet, acpi_pm, jiffies or pit: fail validate"},
    {"clock_skew", "host", "the server's answers", "more than clock_skew_ms: warn"},
    {"version", "host", "the manifest; /sys/module/nvidia/version; /proc/sys/kernel/osrelease",
     "differs: fail validate; the agent's own: warn"},
    {"check_stuck", "any", "whether the check itself ends",
     "has not ended for 5 minutes: fail validate"},
    {"health_record", "any", "health.json in the agent's data_dir",
     "damaged, or cannot be written: warn"},
};

}  // namespace

std::span<const CheckInfo> check_infos() { return kChecks; }

std::string format_check_infos() {
  std::string text = "| result | check | reads | limit: verdict and tier |\n|---|---|---|---|\n";
  for (const CheckInfo& info : kChecks) {
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", info.name, info.check, info.reads, info.judges);
  }
  return text;
}

std::string format_limit_infos() {
  const HealthLimits defaults;
  std::string text = "| limit | default | range | meaning |\n|---|---|---|---|\n";
  for (const LimitInfo& info : limit_infos()) {
    const std::string high = info.high >= INT64_MAX / 1'048'576 ? "" : fmt::format("{}", info.high);
    text += fmt::format("| `{}` | {} | {}…{} | {} |\n", info.name, defaults.*info.member, info.low,
                        high, info.meaning);
  }
  return text;
}

}  // namespace hai
