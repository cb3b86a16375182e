#pragma once
// One message of the kernel, as /dev/kmsg gives it ("6,1234,5678901,-;text") or as dmesg prints it
// ("[ 5678.901234] text", "<6>[ 5678.901234] text", "[Fri Nov 20 14:39:02 2026] text"). A line
// that is none of these is all text, and the kernel's: whoever names a plain file in place of
// /dev/kmsg vouches for what is in it. Pure; any bytes will do.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/time.h"

namespace hai {

struct KernelRecord {
  std::optional<int64_t> sequence;  // counts up from boot; only /dev/kmsg tells it
  std::optional<Duration> since_boot;
  // Whose message it is, as in syslog: 0 = the kernel's. Anybody who may write to /dev/kmsg adds
  // messages, but the kernel lets none of them have facility 0.
  int64_t facility = 0;
  std::string text;  // one line, without control characters
  bool operator==(const KernelRecord&) const = default;
};

inline constexpr size_t kKernelTextBytesMax = 1'024;

// None for an empty line and for the lines of key=value that may follow a record (they begin with a
// space).
std::optional<KernelRecord> parse_kernel_record(std::string_view record);

}  // namespace hai
