// The functions of NVML's C interface that hai calls, under their real names, answering from a
// file.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "agent/health/nvml_abi.h"
#include "tests/support/stub_nvml/stub_state.h"

namespace {

using hai::nvml::Device;

// As in the real one, a GPU that comes or goes later is seen only by who initialises anew.
std::atomic<int64_t> count_at_init{0};

// Handles are index + 1, as pointers that nobody follows.
unsigned index_of(Device device) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(device)) - 1;
}

// What each call about a GPU begins with.
struct Call {
  Call(const char* function, Device device) : gpu(index_of(device)) {
    hang_if_told(function);
    state = read_stub_state();
    result = static_cast<int>(state.value(gpu, "result", hai::nvml::kSuccess));
  }
  bool is_answered() const { return result == hai::nvml::kSuccess; }
  int64_t value(const char* key, int64_t otherwise = 0) const {
    return state.value(gpu, key, otherwise);
  }
  unsigned gpu;
  StubState state;
  int result = 0;
};

template <typename T>
int answer(const char* function, Device device, const char* key, int64_t otherwise, T* out) {
  const Call call(function, device);
  if (call.is_answered()) *out = static_cast<T>(call.value(key, otherwise));
  return call.result;
}

int copy(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return hai::nvml::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return hai::nvml::kSuccess;
}

}  // namespace

#define NVML extern "C" __attribute__((visibility("default"))) int

NVML nvmlInit_v2() {
  hang_if_told("nvmlInit_v2");
  const StubState state = read_stub_state();
  count_at_init = state.count;
  return static_cast<int>(state.init);
}
NVML nvmlShutdown() { return hai::nvml::kSuccess; }

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int code) {
  switch (code) {
    case hai::nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case hai::nvml::kGpuIsLost:
      return "GPU is lost";
    case hai::nvml::kResetRequired:
      return "GPU requires reset";
    case hai::nvml::kNotSupported:
      return "Not Supported";
    default:
      return "Unknown Error";
  }
}

NVML nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return copy(read_stub_state().driver, version, length);
}

NVML nvmlDeviceGetCount_v2(unsigned* count) {
  hang_if_told("nvmlDeviceGetCount_v2");
  *count = static_cast<unsigned>(count_at_init);
  return hai::nvml::kSuccess;
}

NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index >= count_at_init) return hai::nvml::kInvalidArgument;
  *device = reinterpret_cast<Device>(static_cast<uintptr_t>(index) + 1);
  return Call("nvmlDeviceGetHandleByIndex_v2", *device).result;
}

NVML nvmlDeviceGetPciInfo_v3(Device device, hai::nvml::PciInfo* info) {
  const Call call("nvmlDeviceGetPciInfo_v3", device);
  *info = {};
  info->bus = 0x10 + call.gpu;
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
  return call.result;
}

NVML nvmlDeviceGetEccMode(Device device, int* current, int* pending) {
  *pending = 1;
  return answer("nvmlDeviceGetEccMode", device, "ecc", 1, current);
}

NVML nvmlDeviceGetTotalEccErrors(Device device, int type, int counter, unsigned long long* count) {
  const char* key = type == hai::nvml::kMemoryErrorCorrected ? "ecc_corrected"
                    : counter == hai::nvml::kEccVolatile     ? "ecc_uncorrected"
                                                             : "ecc_uncorrected_lifetime";
  return answer("nvmlDeviceGetTotalEccErrors", device, key, 0, count);
}

NVML nvmlDeviceGetMemoryErrorCounter(Device device, int type, int, int location,
                                     unsigned long long* count) {
  const char* key = type != hai::nvml::kMemoryErrorCorrected ? "location_uncorrected"
                    : location == hai::nvml::kLocationSram   ? "sram_corrected"
                                                             : "dram_corrected";
  return answer("nvmlDeviceGetMemoryErrorCounter", device, key, 0, count);
}

NVML nvmlDeviceGetTemperature(Device device, int, unsigned* celsius) {
  return answer("nvmlDeviceGetTemperature", device, "temperature", 40, celsius);
}
NVML nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation) {
  return answer("nvmlDeviceGetCurrPcieLinkGeneration", device, "pcie_generation", 4, generation);
}
NVML nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* generation) {
  return answer("nvmlDeviceGetMaxPcieLinkGeneration", device, "pcie_generation_max", 4, generation);
}
NVML nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* width) {
  return answer("nvmlDeviceGetCurrPcieLinkWidth", device, "pcie_width", 16, width);
}
NVML nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* width) {
  return answer("nvmlDeviceGetMaxPcieLinkWidth", device, "pcie_width_max", 16, width);
}
NVML nvmlDeviceGetPcieReplayCounter(Device device, unsigned* replays) {
  return answer("nvmlDeviceGetPcieReplayCounter", device, "replays", 0, replays);
}

NVML nvmlDeviceGetUtilizationRates(Device device, hai::nvml::Utilization* utilization) {
  *utilization = {};
  return answer("nvmlDeviceGetUtilizationRates", device, "utilization", 0, &utilization->gpu);
}

NVML nvmlDeviceGetMemoryInfo(Device device, hai::nvml::Memory* memory) {
  const Call call("nvmlDeviceGetMemoryInfo", device);
  if (!call.is_answered()) return call.result;
  memory->total = 80ULL << 30;
  memory->used = memory->total / 1'000 * static_cast<uint64_t>(call.value("memory_permille"));
  memory->free = memory->total - memory->used;
  return call.result;
}
NVML nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return answer("nvmlDeviceGetPowerUsage", device, "milliwatts", 60'000, milliwatts);
}

NVML nvmlDeviceGetNvLinkState(Device device, unsigned link, int* state) {
  const Call call("nvmlDeviceGetNvLinkState", device);
  if (!call.is_answered()) return call.result;
  if (link >= call.value("nvlinks")) return hai::nvml::kInvalidArgument;
  *state = static_cast<int>(call.value(("nvlink_" + std::to_string(link) + "_state").c_str(), 1));
  return call.result;
}

NVML nvmlDeviceGetNvLinkErrorCounter(Device device, unsigned link, int counter,
                                     unsigned long long* count) {
  const char* what = counter == hai::nvml::kNvlinkReplay     ? "_replay"
                     : counter == hai::nvml::kNvlinkRecovery ? "_recovery"
                     : counter == hai::nvml::kNvlinkCrcFlit  ? "_crc"
                                                             : "_other";
  return answer("nvmlDeviceGetNvLinkErrorCounter", device,
                ("nvlink_" + std::to_string(link) + what).c_str(), 0, count);
}

NVML nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                             hai::nvml::ProcessInfo* processes) {
  const Call call("nvmlDeviceGetComputeRunningProcesses_v3", device);
  if (!call.is_answered()) return call.result;
  const int64_t pid = call.value("pid");
  const unsigned room = *count;
  *count = pid > 0 ? 1 : 0;
  if (*count > room) return hai::nvml::kInsufficientSize;
  if (*count > 0) processes[0] = {.pid = static_cast<unsigned>(pid)};
  return call.result;
}

#ifdef HAI_STUB_NVML_OLD

// Before driver 535 it had this name.
NVML nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", device, "reasons", 0, reasons);
}

#else

NVML nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons) {
  return answer("nvmlDeviceGetCurrentClocksEventReasons", device, "reasons", 0, reasons);
}

NVML nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                               unsigned* is_pending, unsigned* has_failed) {
  const Call call("nvmlDeviceGetRemappedRows", device);
  *corrected = static_cast<unsigned>(call.value("remapped_corrected"));
  *uncorrected = static_cast<unsigned>(call.value("remapped_uncorrected"));
  *is_pending = static_cast<unsigned>(call.value("remapped_pending"));
  *has_failed = static_cast<unsigned>(call.value("remapped_failed"));
  return call.result;
}

NVML nvmlDeviceGetFieldValues(Device device, int count, hai::nvml::FieldValue* values) {
  const Call call("nvmlDeviceGetFieldValues", device);
  for (int i = 0; i < count; ++i) {
    hai::nvml::FieldValue& field = values[i];
    field.result = field.field_id == hai::nvml::kFieldRecoveryAction ? hai::nvml::kSuccess
                                                                     : hai::nvml::kNotSupported;
    field.value_type = hai::nvml::kValueUnsignedInt;
    field.value.unsigned_value = static_cast<unsigned>(call.value("recovery"));
  }
  return call.result;
}

#endif
