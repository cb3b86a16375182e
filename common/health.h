#pragma once
// What a health check found, as agents report it and the server acts on it (docs/contract.md, Agent
// and shim). Names of checks are stable: "gpu_xid", "ib_link", "mount", …

#include <cstdint>
#include <string>
#include <string_view>

#include "common/gpu_set.h"
#include "common/time.h"

namespace hai {

enum class CheckVerdict {
  ok,
  warn,     // worth knowing, changes nothing
  fail,     // acted upon as its tier says
  unknown,  // could not be found out: no such hardware, or the check did not end in time
};
std::string_view to_string(CheckVerdict verdict);

// What a failure is worth, mildest first.
enum class HealthTier {
  log,       // write it down
  app,       // the program's own doing
  validate,  // nothing new there; validate when it is free
  drain,     // move its jobs away with notice
  evict,     // its GPUs are gone: end what runs there now
};
std::string_view to_string(HealthTier tier);

struct CheckResult {
  std::string name;
  std::string subject;  // "gpu 3", "mlx5_0/1", "/data"; "" = the node. Unique together with name
  CheckVerdict verdict = CheckVerdict::unknown;
  HealthTier tier = HealthTier::log;
  std::string summary;   // one sentence with the numbers and the limit
  std::string evidence;  // lines as they were read; at most kEvidenceBytesMax
  GpuSet gpus;           // which of the node's it is about; empty = none or all
  UnixTime at{};         // when it became so; the same for as long as nothing changes
  bool operator==(const CheckResult&) const = default;
};
inline constexpr size_t kEvidenceBytesMax = 4'096;

}  // namespace hai
