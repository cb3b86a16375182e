#pragma once
// One message of the kernel, as /dev/kmsg gives it ("6,1234,5678901,-;text") or as dmesg prints it
// ("[ 5678.901234] text", "<6>[ 5678.901234] text", "[Fri Nov 20 14:39:02 2026] text"). Pure; any
// bytes will do.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/time.h"

namespace hai {

struct KernelRecord {
  std::optional<int64_t> sequence;  // counts up from boot; only /dev/kmsg tells it
  std::optional<Duration> since_boot;
  std::string text;  // one line, without control characters
  bool operator==(const KernelRecord&) const = default;
};

inline constexpr size_t kKernelTextBytesMax = 1'024;

// None for an empty line and for the lines of key=value that may follow a record (they begin with a
// space).
std::optional<KernelRecord> parse_kernel_record(std::string_view record);

}  // namespace hai
