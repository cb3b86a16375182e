#pragma once
// The part of NVML's C interface that is used here, declared anew: no header of NVIDIA's is needed
// to build. Names, values and layouts are those of the public API reference
// (https://docs.nvidia.com/deploy/nvml-api/), which keeps them for good: what changes gets a new
// name with a version, such as _v3.

namespace hai::nvml {

struct DeviceOpaque;
using Device = DeviceOpaque*;

// nvmlReturn_t
enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kLibRmVersionMismatch = 18,
  kUnknown = 999,
};

inline constexpr int kTemperatureGpu = 0;          // NVML_TEMPERATURE_GPU
inline constexpr int kMemoryErrorCorrected = 0;    // NVML_MEMORY_ERROR_TYPE_CORRECTED
inline constexpr int kMemoryErrorUncorrected = 1;  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
inline constexpr int kEccVolatile = 0;             // NVML_VOLATILE_ECC: since the driver was loaded
inline constexpr int kEccAggregate = 1;            // NVML_AGGREGATE_ECC: of the GPU's life
inline constexpr int kLocationDram = 2;            // NVML_MEMORY_LOCATION_DRAM
inline constexpr int kLocationSram = 7;            // NVML_MEMORY_LOCATION_SRAM
inline constexpr int kNvlinkReplay = 0;            // NVML_NVLINK_ERROR_DL_REPLAY
inline constexpr int kNvlinkRecovery = 1;          // NVML_NVLINK_ERROR_DL_RECOVERY
inline constexpr int kNvlinkCrcFlit = 2;           // NVML_NVLINK_ERROR_DL_CRC_FLIT
inline constexpr int kNvlinkCrcData = 3;           // NVML_NVLINK_ERROR_DL_CRC_DATA
inline constexpr unsigned kNvlinksMax = 18;        // NVML_NVLINK_MAX_LINKS
inline constexpr unsigned kFieldRecoveryAction = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION

// Clock event reasons (nvmlClocksEventReasons): those that mean that the hardware holds the GPU
// back.
inline constexpr unsigned long long kReasonHwSlowdown = 0x08;
inline constexpr unsigned long long kReasonSwThermal = 0x20;
inline constexpr unsigned long long kReasonHwThermal = 0x40;
inline constexpr unsigned long long kReasonHwPowerBrake = 0x80;

struct PciInfo {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct ProcessInfo {  // nvmlProcessInfo_v2_t, as nvmlDeviceGetComputeRunningProcesses_v3 fills it
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
static_assert(sizeof(ProcessInfo) == 24);

struct Utilization {  // nvmlUtilization_t, in percent
  unsigned gpu;
  unsigned memory;
};

struct Memory {  // nvmlMemory_t, in bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

union Value {  // nvmlValue_t
  double double_value;
  int int_value;
  unsigned unsigned_value;
  unsigned long unsigned_long_value;
  unsigned long long unsigned_long_long_value;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field_id;
  unsigned scope_id;
  long long timestamp;
  long long latency_micros;
  int value_type;  // nvmlValueType_t
  int result;      // nvmlReturn_t, of this field
  Value value;
};
static_assert(sizeof(FieldValue) == 40);
inline constexpr int kValueUnsignedInt = 1;

}  // namespace hai::nvml
