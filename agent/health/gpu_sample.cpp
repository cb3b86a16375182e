#include "agent/health/gpu_sample.h"

#include <cmath>

namespace hai {

namespace {

constexpr unsigned kProcessesMax = 256;

// Reads values into a sample until the GPU turns out to be in trouble.
class Reader {
 public:
  Reader(const NvmlLibrary& nvml, GpuSample& sample) : nvml_(nvml), sample_(sample) {}

  bool note(nvml::Return code) {
    if (is_trouble(code) && sample_.trouble == nvml::kSuccess) {
      sample_.trouble = code;
      sample_.trouble_text = nvml_.error_text(code);
    }
    return code == nvml::kSuccess;
  }
  bool is_usable() const { return sample_.trouble == nvml::kSuccess; }

  // value = what a function of the form f(…, T*) writes.
  template <typename T, typename Value, typename Function, typename... Arguments>
  void read(std::optional<Value>& value, const Function& function, Arguments... arguments) {
    T raw{};
    if (is_usable() && note(function(arguments..., &raw))) value = static_cast<Value>(raw);
  }

 private:
  const NvmlLibrary& nvml_;
  GpuSample& sample_;
};

void read_memory(const NvmlLibrary& nvml, Reader& reader, nvml::Device device, GpuSample& out) {
  using Count = unsigned long long;
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (reader.is_usable() &&
      reader.note(nvml.remapped_rows(device, &corrected, &uncorrected, &pending, &failed))) {
    out.remapped_rows = {.corrected = corrected,
                         .uncorrected = uncorrected,
                         .is_pending = pending != 0,
                         .has_failed = failed != 0};
  }
  int ecc_now = 0, ecc_next = 0;
  if (reader.is_usable() && reader.note(nvml.ecc_mode(device, &ecc_now, &ecc_next)))
    out.ecc_on = ecc_now != 0;
  if (!out.ecc_on.value_or(false)) return;
  reader.read<Count>(out.ecc_uncorrected, nvml.total_ecc_errors, device,
                     nvml::kMemoryErrorUncorrected, nvml::kEccVolatile);
  reader.read<Count>(out.ecc_uncorrected_lifetime, nvml.total_ecc_errors, device,
                     nvml::kMemoryErrorUncorrected, nvml::kEccAggregate);
  reader.read<Count>(out.sram_corrected, nvml.memory_error_counter, device,
                     nvml::kMemoryErrorCorrected, nvml::kEccVolatile, nvml::kLocationSram);
  reader.read<Count>(out.dram_corrected, nvml.memory_error_counter, device,
                     nvml::kMemoryErrorCorrected, nvml::kEccVolatile, nvml::kLocationDram);
}

void read_pcie(const NvmlLibrary& nvml, Reader& reader, nvml::Device device, GpuSample& out) {
  reader.read<unsigned>(out.pcie_generation, nvml.pcie_generation, device);
  reader.read<unsigned>(out.pcie_generation_max, nvml.pcie_generation_max, device);
  reader.read<unsigned>(out.pcie_width, nvml.pcie_width, device);
  reader.read<unsigned>(out.pcie_width_max, nvml.pcie_width_max, device);
  reader.read<unsigned>(out.pcie_replays, nvml.pcie_replays, device);
}

void read_use(const NvmlLibrary& nvml, Reader& reader, nvml::Device device, GpuSample& out) {
  nvml::Utilization utilization{};
  if (reader.is_usable() && reader.note(nvml.utilization(device, &utilization)))
    out.utilization_percent = utilization.gpu;
  nvml::Memory memory{};
  if (reader.is_usable() && reader.note(nvml.memory(device, &memory)) && memory.total > 0) {
    const double share = static_cast<double>(memory.used) / static_cast<double>(memory.total);
    out.memory_percent = std::lround(100 * share);
  }
  reader.read<unsigned>(out.power_milliwatts, nvml.power_milliwatts, device);
}

void read_nvlinks(const NvmlLibrary& nvml, Reader& reader, nvml::Device device, GpuSample& out) {
  using Count = unsigned long long;
  for (unsigned link = 0; link < nvml::kNvlinksMax && reader.is_usable(); ++link) {
    int active = 0;
    if (!reader.note(nvml.nvlink_state(device, link, &active))) break;  // It has no more.
    NvlinkSample sample{.index = static_cast<int>(link), .is_active = active != 0};
    if (sample.is_active) {
      std::optional<int64_t> flits;
      reader.read<Count>(sample.replays, nvml.nvlink_errors, device, link, nvml::kNvlinkReplay);
      reader.read<Count>(sample.recoveries, nvml.nvlink_errors, device, link,
                         nvml::kNvlinkRecovery);
      reader.read<Count>(flits, nvml.nvlink_errors, device, link, nvml::kNvlinkCrcFlit);
      reader.read<Count>(sample.crc_errors, nvml.nvlink_errors, device, link, nvml::kNvlinkCrcData);
      if (flits) sample.crc_errors = sample.crc_errors.value_or(0) + *flits;
    }
    out.nvlinks.push_back(sample);
  }
}

void read_processes(const NvmlLibrary& nvml, Reader& reader, nvml::Device device, GpuSample& out) {
  std::vector<nvml::ProcessInfo> processes(kProcessesMax);
  unsigned count = kProcessesMax;
  if (!reader.is_usable() || !reader.note(nvml.compute_processes(device, &count, processes.data())))
    return;
  out.compute_pids.emplace();
  for (unsigned i = 0; i < count && i < kProcessesMax; ++i) {
    out.compute_pids->push_back(static_cast<pid_t>(processes[i].pid));
  }
}

void read_recovery_action(const NvmlLibrary& nvml, Reader& reader, nvml::Device device,
                          GpuSample& out) {
  nvml::FieldValue field{};
  field.field_id = nvml::kFieldRecoveryAction;
  if (reader.is_usable() && reader.note(nvml.field_values(device, 1, &field)) &&
      field.result == nvml::kSuccess && field.value_type == nvml::kValueUnsignedInt)
    out.recovery_action = field.value.unsigned_value;
}

}  // namespace

bool is_trouble(nvml::Return code) {
  switch (code) {
    case nvml::kTimeout:
    case nvml::kGpuIsLost:
    case nvml::kResetRequired:
    case nvml::kUninitialized:
    case nvml::kDriverNotLoaded:
    case nvml::kLibRmVersionMismatch:
      return true;
    case nvml::kSuccess:
    case nvml::kInvalidArgument:
    case nvml::kNotSupported:
    case nvml::kNoPermission:
    case nvml::kNotFound:
    case nvml::kInsufficientSize:
    case nvml::kFunctionNotFound:
    case nvml::kUnknown:  // Some drivers answer so where they mean "not supported".
      return false;
  }
  return false;
}

GpuSample read_gpu(const NvmlLibrary& nvml, int index) {
  GpuSample sample{.index = index};
  Reader reader(nvml, sample);
  nvml::Device device = nullptr;
  const nvml::Return found = nvml.handle_by_index(static_cast<unsigned>(index), &device);
  if (found != nvml::kSuccess) {
    sample.trouble = found;
    sample.trouble_text = nvml.error_text(found);
    return sample;
  }
  read_recovery_action(nvml, reader, device, sample);
  reader.read<unsigned>(sample.temperature_celsius, nvml.temperature, device,
                        nvml::kTemperatureGpu);
  reader.read<unsigned long long>(sample.clock_reasons, nvml.clock_event_reasons, device);
  read_memory(nvml, reader, device, sample);
  read_pcie(nvml, reader, device, sample);
  read_use(nvml, reader, device, sample);
  read_nvlinks(nvml, reader, device, sample);
  read_processes(nvml, reader, device, sample);
  return sample;
}

}  // namespace hai
