#pragma once
// Keeps the ledger of a boot for the agent's successor: what stands, what was cleared, and how far
// the kernel's log was read. After a restart of the machine it says nothing.

#include <string>

#include "agent/health/fault_ledger.h"
#include "common/status.h"

namespace hai {

struct KeptFaults {
  std::string boot_id;
  int64_t last_sequence = -1;  // of /dev/kmsg
  std::map<FaultLedger::Key, StandingFault> faults;
  std::map<FaultLedger::Key, UnixTime> cleared;
  std::string damage;  // why faults are left out that cannot be read; "" = none are
};

// not_found if there is none; invalid_argument if it is no such file. A fault counts as long as it
// has its name: fields that an older agent did not write have defaults, those of a newer one are
// ignored.
Result<KeptFaults> read_fault_file(const std::string& path);
Status write_fault_file(const std::string& path, const KeptFaults& kept);

}  // namespace hai
