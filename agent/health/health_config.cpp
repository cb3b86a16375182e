#include "agent/health/health_config.h"

#include "agent/health/file_values.h"
#include "agent/health/nvml_abi.h"
#include "common/gpu_set.h"
#include "common/whole_number.h"

namespace hai {

namespace {

void read_absolute(YamlReader& reader, const std::string& path, std::string* out) {
  if (reader.string(path, out) && !out->starts_with('/')) {
    reader.fail(path, fmt::format("must be an absolute path, is {}", *out));
  }
}

void read_absolutes(YamlReader& reader, const std::string& path, std::vector<std::string>* out) {
  static constexpr size_t kPathsMax = 64;
  if (!reader.strings(path, out)) return;
  if (out->size() > kPathsMax) reader.fail(path, fmt::format("must be at most {}", kPathsMax));
  for (const std::string& item : *out) {
    if (!item.starts_with('/')) {
      reader.fail(path, fmt::format("must be absolute paths, one is {}", item));
    }
  }
}

void read_expectations(YamlReader& reader, HealthConfig* config) {
  reader.integer("health.expect.gpus", &config->gpus, {.low = 0, .high = GpuSet::kMax});
  reader.integer("health.expect.gpu_pcie_width", &config->gpu_pcie_width, {.low = 1, .high = 16});
  reader.integer("health.expect.gpu_nvlinks", &config->gpu_nvlinks,
                 {.low = 0, .high = static_cast<int64_t>(nvml::kNvlinksMax)});
  reader.integer("health.expect.cpus", &config->cpus, {.low = 1, .high = 65'536});
  reader.bytes("health.expect.memory", &config->memory_bytes, {.low = 1, .high = INT64_MAX});
  reader.string("health.expect.clock_source", &config->clock_source);
  std::map<std::string, std::string> ports;
  if (!reader.string_map("health.expect.infiniband", &ports)) return;
  for (const auto& [port, text] : ports) {
    const std::optional<int64_t> rate = whole_number(text);
    if (!rate || *rate < 1 || *rate > 10'000 || port.find('/') == std::string::npos) {
      reader.fail("health.expect.infiniband",
                  fmt::format("must be DEVICE/PORT: GIGABITS, for example mlx5_0/1: 200, is {}: {}",
                              port, text));
      continue;
    }
    config->infiniband[port] = *rate;
  }
}

void read_limits(YamlReader& reader, HealthLimits* limits) {
  std::map<std::string, std::string> texts;
  if (!reader.string_map("health.limits", &texts)) return;
  for (const auto& [name, text] : texts) {
    const std::optional<int64_t> value = whole_number(text);
    const Status status = value ? set_limit(*limits, name, *value)
                                : invalid_argument("{} must be a number, is {}", name, text);
    if (!status.is_ok()) reader.fail("health.limits", status.message());
  }
}

}  // namespace

void read_health_config(YamlReader& reader, HealthConfig* config) {
  reader.boolean("health.on", &config->is_on);
  read_absolute(reader, "health.sys_root", &config->sys_root);
  read_absolute(reader, "health.proc_root", &config->proc_root);
  read_absolute(reader, "health.kmsg", &config->kmsg);
  reader.string("health.nvml_library", &config->nvml_library);
  read_absolute(reader, "health.xid_table", &config->xid_table);
  read_absolute(reader, "health.kernel_table", &config->kernel_table);
  read_absolute(reader, "health.manifest", &config->manifest);
  read_absolutes(reader, "health.mounts", &config->mounts);
  read_absolutes(reader, "health.file_systems", &config->file_systems);
  reader.strings("health.disks", &config->disks);
  reader.strings("health.infiniband_excluded", &config->infiniband_excluded);
  read_expectations(reader, config);
  read_limits(reader, &config->limits);
}

}  // namespace hai
