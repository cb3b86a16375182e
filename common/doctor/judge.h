#pragma once
// What follows from facts about a machine: pure, so that each verdict can be tested.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/doctor/finding.h"
#include "common/machine/systemd_unit.h"
#include "common/time.h"
#include "common/tls/certificate.h"

namespace hai {

struct DiskSpace {
  uint64_t free_bytes = 0;  // for whoever is not root
  uint64_t total_bytes = 0;
  uint64_t free_files = 0;
  uint64_t total_files = 0;  // 0 = the file system does not count them
};
// Fails below 1 % or 100 MiB, warns below 10 % or 1 GiB; the same shares of files.
Finding judge_disk(const std::string& folder, const DiskSpace& space);

// What the kernel says of its clock: whether a time service keeps it.
Finding judge_clock(bool is_synchronised);
// Warns from 1 s on: certificates and tokens have times. Fails from 60 s on.
Finding judge_clock_difference(const std::string& with, Duration difference);

// Whether it is in force and for how long still, and for which of `names` it is not. `remedy`: how
// to get another one.
Finding judge_certificate(const std::string& file, const CertificateFacts& facts, UnixTime now,
                          const std::vector<std::string>& names, const std::string& remedy);

Finding judge_unit(const std::string& unit, const UnitState& state);

}  // namespace hai
