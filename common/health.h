#pragma once
// What a health check found, as agents report it and the server acts on it (docs/contract.md, Agent
// and shim). Names of checks are stable: "gpu_xid", "ib_link", "mount", …

#include <cstdint>
#include <optional>
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

// What the server has to know of what a check looks at. Made where the result is made: the server
// acts on checks that only a site has as it does on ours.
struct CheckKind {
  bool is_latched = false;    // it happened, as a line of the kernel's log, and stays said until it
                              // is cleared; else it is so now, and heals by itself
  bool is_shared = false;     // of what nodes share, as fabric, file servers and time
  bool is_of_gpus = false;    // a reset of the GPUs may mend it; else only a reboot
  bool cuts_network = false;  // a warning is a port that was down: programs break by it
  bool counts_cuts = false;   // a warning is of short cuts: programs of several nodes do
  bool operator==(const CheckKind&) const = default;
};
// Of the checks that hai has, by name. An unknown name: nothing of this.
CheckKind check_kind_of(std::string_view name);

// Whether jobs alone can bring it about, as a full disk: then it says nothing against the hardware.
bool is_made_by_jobs(std::string_view check);

struct CheckResult {
  std::string name;
  std::string subject;  // "gpu 3", "mlx5_0/1", "/data"; "" = the node. Unique together with name
  CheckVerdict verdict = CheckVerdict::unknown;
  HealthTier tier = HealthTier::log;
  std::string summary;   // one sentence with the numbers and the limit
  std::string evidence;  // lines as they were read; at most kEvidenceBytesMax
  GpuSet gpus;           // which of the node's it is about; empty = none or all
  UnixTime at{};         // when it became so; the same for as long as nothing changes
  // Nothing: of an agent or a log of a version that did not say; then it is as its name has it.
  std::optional<CheckKind> said_kind = {};
  CheckKind kind() const { return said_kind ? *said_kind : check_kind_of(name); }
  bool operator==(const CheckResult&) const = default;
};
inline constexpr size_t kEvidenceBytesMax = 4'096;

}  // namespace hai
