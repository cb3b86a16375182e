#pragma once
// The system calls that a rank's programs may not make, as container runtimes refuse them by
// default: those that need privileges no rank has, and those that reach far into the kernel and
// that hardly any program needs. Data only; agent/shim/call_filter.cpp makes the filter of it.

#include <cstdint>
#include <span>
#include <string_view>

namespace hai {

struct RefusedCall {
  const char* name;
  int error;
};

// Refused only if these bits of this argument have this value.
struct RefusedArgument {
  const char* name;
  unsigned argument;
  uint64_t mask;
  uint64_t value;
  int error;
};

std::span<const RefusedCall> refused_calls();
std::span<const RefusedArgument> refused_arguments();

// The newest call these tables were made with (Linux 6.14, removexattrat; the same number on all
// machines). What is newer does not exist for a rank: programs then do without.
inline constexpr uint32_t kNewestKnownCall = 466;

// Whether a site may let it through, by name.
bool is_refused_call(std::string_view name);

}  // namespace hai
