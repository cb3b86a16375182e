#pragma once
// What the stub answers, from the text file that the environment variable HAI_STUB_NVML names, or
// else from LIBRARY.state beside the library. It is read anew at each call, so a test makes a GPU
// fail while the agent runs. Lines; # begins a comment; the last line on a thing counts:
//
//   count 8                            GPUs, as nvmlInit_v2 finds them
//   driver 550.54.15
//   init 9                             what nvmlInit_v2 returns (nvmlReturn_t)
//   hang nvmlDeviceGetTemperature      the call ends only when the line is gone
//   gpu 3 result 15                    every call about the GPU returns it: GPU_IS_LOST
//   gpu 3 temperature 95               for all GPUs: gpu * temperature 95
//
// Keys of a GPU and their defaults: recovery 0 · remapped_corrected 0 · remapped_uncorrected 0 ·
// remapped_pending 0 · remapped_failed 0 · ecc 1 · ecc_uncorrected 0 · ecc_uncorrected_lifetime 0 ·
// sram_corrected 0 · dram_corrected 0 · reasons 0 · temperature 40 · pcie_generation 4 ·
// pcie_generation_max 4 · pcie_width 16 · pcie_width_max 16 · replays 0 · utilization 0 ·
// memory_permille 0 · milliwatts 60000 · nvlinks 0 · nvlink_N_state 1 · nvlink_N_replay 0 ·
// nvlink_N_recovery 0 · nvlink_N_crc 0 · pid (none)

#include <cstdint>
#include <map>
#include <set>
#include <string>

struct StubState {
  int64_t count = 0;
  int64_t init = 0;
  std::string driver = "550.54.15";
  std::set<std::string> hanging;
  std::map<std::string, std::map<std::string, int64_t>> gpus;  // by index or "*"

  int64_t value(unsigned gpu, const std::string& key, int64_t otherwise) const;
};

StubState read_stub_state();
// Waits as long as the file says that the function hangs.
void hang_if_told(const char* function);
