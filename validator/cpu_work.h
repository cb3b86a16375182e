#pragma once
// Computation whose result is known to the bit: integers, and floating point in an order that no
// compiler and no vector width may change. A CPU that gives another result is broken.

#include <cstdint>

namespace hai::validator {

inline constexpr int kCpuWorkKinds = 8;
inline constexpr double kCpuWorkFlops = 2.0 * 96 * 96 * 96 * 4;  // of one piece of work

uint64_t do_cpu_work(int kind);        // 0 <= kind < kCpuWorkKinds; about a millisecond
uint64_t expected_cpu_work(int kind);  // what a CPU that works gives

// Cycles per nanosecond, from a chain of additions that each take one cycle. 0 where no such chain
// is known for the architecture.
double measure_frequency_gigahertz();

}  // namespace hai::validator
