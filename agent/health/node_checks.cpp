#include "agent/health/node_checks.h"

#include "agent/health/disk_check.h"
#include "agent/health/gpu_check.h"
#include "agent/health/host_check.h"
#include "agent/health/ib_check.h"
#include "agent/health/kernel_check.h"
#include "agent/health/mount_check.h"
#include "agent/os/files.h"

namespace hai {

namespace {

constexpr size_t kTableBytesMax = 1 << 20;

// `table` stays what it is if there is no path.
template <typename Table>
Status read_table(const std::string& path, Table& table) {
  if (path.empty()) return ok();
  const Result<std::string> text = read_file(path, kTableBytesMax);
  if (!text.is_ok()) return text.status();
  Result<Table> parsed = Table::parse(text.value());
  if (!parsed.is_ok()) return invalid_argument("{}: {}", path, parsed.status().message());
  table = std::move(parsed).value();
  return ok();
}

Result<KernelCheckOptions> kernel_options(const NodeChecksOptions& options) {
  KernelCheckOptions out;
  out.kmsg = options.config.kmsg;
  out.proc_root = options.config.proc_root;
  if (!options.data_dir.empty()) out.fault_file = options.data_dir + "/faults.json";
  out.boot_id = options.boot_id;
  out.writes_fault_file = options.is_agent;
  RETURN_IF_ERROR(read_table(options.config.xid_table, out.xids));
  RETURN_IF_ERROR(read_table(options.config.kernel_table, out.kernel));
  return out;
}

GpuCheckOptions gpu_options(const NodeChecksOptions& options) {
  const HealthConfig& config = options.config;
  GpuCheckOptions out;
  if (!config.nvml_library.empty()) out.nvml_library = config.nvml_library;
  out.proc_root = config.proc_root;
  out.expected_gpus =
      config.gpus < 0 && options.simulated_gpus > 0 ? options.simulated_gpus : config.gpus;
  out.expected_pcie_width = config.gpu_pcie_width;
  out.expected_nvlinks = config.gpu_nvlinks;
  out.limits = config.limits;
  out.board = options.gpu_board;
  return out;
}

MountCheckOptions mount_options(const NodeChecksOptions& options) {
  MountCheckOptions out;
  out.proc_root = options.config.proc_root;
  out.mounts = options.config.mounts;
  out.file_systems = options.config.file_systems;
  if (out.file_systems.empty()) {
    out.file_systems = {"/"};
    if (!options.data_dir.empty()) out.file_systems.push_back(options.data_dir);
  }
  out.limits = options.config.limits;
  return out;
}

HostCheckOptions host_options(const NodeChecksOptions& options) {
  const HealthConfig& config = options.config;
  return {.sys_root = config.sys_root,
          .proc_root = config.proc_root,
          .expected_cpus = config.cpus,
          .expected_memory_bytes = config.memory_bytes,
          .expected_clock_source = config.clock_source,
          .manifest = config.manifest,
          .agent_version = options.agent_version,
          .limits = config.limits};
}

// Who looks once cannot wait whether a link comes up or a file server answers after all.
void expect_at_once(HealthLimits& limits) {
  limits.nvlink_start_seconds = 0;
  limits.ib_down_seconds = 0;
  limits.mount_silences = 1;
}

}  // namespace

Result<std::vector<std::unique_ptr<Check>>> make_node_checks(const NodeChecksOptions& given) {
  NodeChecksOptions options = given;
  if (!options.is_agent) expect_at_once(options.config.limits);
  const HealthConfig& config = options.config;
  Result<KernelCheckOptions> kernel = kernel_options(options);
  if (!kernel.is_ok()) return kernel.status();
  std::vector<std::unique_ptr<Check>> checks;
  checks.push_back(std::make_unique<KernelCheck>(std::move(kernel).value()));
  if (options.simulated_gpus == 0 || !config.nvml_library.empty())
    checks.push_back(std::make_unique<GpuCheck>(gpu_options(options)));
  checks.push_back(std::make_unique<IbCheck>(IbCheckOptions{.sys_root = config.sys_root,
                                                            .expected_gigabits = config.infiniband,
                                                            .excluded = config.infiniband_excluded,
                                                            .limits = config.limits}));
  checks.push_back(std::make_unique<MountCheck>(mount_options(options)));
  checks.push_back(std::make_unique<DiskCheck>(DiskCheckOptions{
      .proc_root = config.proc_root, .disks = config.disks, .limits = config.limits}));
  checks.push_back(std::make_unique<HostCheck>(host_options(options)));
  return checks;
}

}  // namespace hai
