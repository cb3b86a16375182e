#pragma once
// NVML, loaded when it is there. A function that the library does not have answers
// kFunctionNotFound, so that older drivers need no case of their own. Used on one thread at a time.

#include <memory>
#include <string>
#include <utility>

#include "agent/health/nvml_abi.h"
#include "common/status.h"

namespace hai {

class NvmlLibrary {
 public:
  // Loads and initialises it. not_found if there is no such library; unavailable if it does not
  // work, as without a driver.
  static Result<std::unique_ptr<NvmlLibrary>> open(const std::string& path);
  ~NvmlLibrary();  // Shuts it down, but never unloads it: its threads may still run.
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::string error_text(nvml::Return code) const;

  template <typename... Arguments>
  struct Function {
    int (*address)(Arguments...) = nullptr;
    template <typename... Given>
    nvml::Return operator()(Given... given) const {
      if (address == nullptr) return nvml::kFunctionNotFound;
      return static_cast<nvml::Return>(address(given...));
    }
  };
  using Device = nvml::Device;
  using Unsigned = unsigned*;

  Function<> init;
  Function<> shutdown;
  Function<char*, unsigned> driver_version;
  Function<Unsigned> count;
  Function<unsigned, Device*> handle_by_index;
  Function<Device, nvml::PciInfo*> pci_info;
  Function<Device, int, nvml::FieldValue*> field_values;
  Function<Device, Unsigned, Unsigned, Unsigned, Unsigned> remapped_rows;
  Function<Device, int*, int*> ecc_mode;
  Function<Device, int, int, unsigned long long*> total_ecc_errors;
  Function<Device, int, int, int, unsigned long long*> memory_error_counter;
  Function<Device, unsigned long long*> clock_event_reasons;
  Function<Device, int, Unsigned> temperature;
  Function<Device, Unsigned> pcie_generation;
  Function<Device, Unsigned> pcie_generation_max;
  Function<Device, Unsigned> pcie_width;
  Function<Device, Unsigned> pcie_width_max;
  Function<Device, Unsigned> pcie_replays;
  Function<Device, nvml::Utilization*> utilization;
  Function<Device, nvml::Memory*> memory;
  Function<Device, Unsigned> power_milliwatts;
  Function<Device, unsigned, int*> nvlink_state;
  Function<Device, unsigned, int, unsigned long long*> nvlink_errors;
  Function<Device, Unsigned, nvml::ProcessInfo*> compute_processes;

 private:
  NvmlLibrary() = default;
  void bind(void* library);
  const char* (*error_string_)(int) = nullptr;
  bool is_ready_ = false;
};

}  // namespace hai
