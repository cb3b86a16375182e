#include "agent/health/nvml_library.h"

#include <dlfcn.h>

namespace hai {

namespace {

template <typename... Arguments>
void bind_one(void* library, const char* name, NvmlLibrary::Function<Arguments...>& function) {
  if (function.address != nullptr) return;
  function.address = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
}

}  // namespace

void NvmlLibrary::bind(void* library) {
  bind_one(library, "nvmlInit_v2", init);
  bind_one(library, "nvmlShutdown", shutdown);
  bind_one(library, "nvmlSystemGetDriverVersion", driver_version);
  bind_one(library, "nvmlDeviceGetCount_v2", count);
  bind_one(library, "nvmlDeviceGetHandleByIndex_v2", handle_by_index);
  bind_one(library, "nvmlDeviceGetPciInfo_v3", pci_info);
  bind_one(library, "nvmlDeviceGetFieldValues", field_values);
  bind_one(library, "nvmlDeviceGetRemappedRows", remapped_rows);
  bind_one(library, "nvmlDeviceGetEccMode", ecc_mode);
  bind_one(library, "nvmlDeviceGetTotalEccErrors", total_ecc_errors);
  bind_one(library, "nvmlDeviceGetMemoryErrorCounter", memory_error_counter);
  bind_one(library, "nvmlDeviceGetCurrentClocksEventReasons", clock_event_reasons);
  // Its name before driver 535.
  bind_one(library, "nvmlDeviceGetCurrentClocksThrottleReasons", clock_event_reasons);
  bind_one(library, "nvmlDeviceGetTemperature", temperature);
  bind_one(library, "nvmlDeviceGetCurrPcieLinkGeneration", pcie_generation);
  bind_one(library, "nvmlDeviceGetMaxPcieLinkGeneration", pcie_generation_max);
  bind_one(library, "nvmlDeviceGetCurrPcieLinkWidth", pcie_width);
  bind_one(library, "nvmlDeviceGetMaxPcieLinkWidth", pcie_width_max);
  bind_one(library, "nvmlDeviceGetPcieReplayCounter", pcie_replays);
  bind_one(library, "nvmlDeviceGetUtilizationRates", utilization);
  bind_one(library, "nvmlDeviceGetMemoryInfo", memory);
  bind_one(library, "nvmlDeviceGetPowerUsage", power_milliwatts);
  bind_one(library, "nvmlDeviceGetNvLinkState", nvlink_state);
  bind_one(library, "nvmlDeviceGetNvLinkErrorCounter", nvlink_errors);
  bind_one(library, "nvmlDeviceGetComputeRunningProcesses_v3", compute_processes);
  error_string_ = reinterpret_cast<const char* (*)(int)>(::dlsym(library, "nvmlErrorString"));
}

Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::open(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return not_found("no NVML: {}", why == nullptr ? path : why);
  }
  std::unique_ptr<NvmlLibrary> nvml(new NvmlLibrary);
  nvml->bind(library);
  const nvml::Return code = nvml->init();
  if (code != nvml::kSuccess) return unavailable("NVML: {}", nvml->error_text(code));
  nvml->is_ready_ = true;
  return nvml;
}

NvmlLibrary::~NvmlLibrary() {
  if (is_ready_) shutdown();
}

std::string NvmlLibrary::error_text(nvml::Return code) const {
  const char* text = error_string_ == nullptr ? nullptr : error_string_(code);
  return text == nullptr ? fmt::format("error {}", static_cast<int>(code))
                         : fmt::format("{} ({})", text, static_cast<int>(code));
}

}  // namespace hai
