#pragma once
// The GPUs of one node as a set of indices 0..63.

#include <bit>
#include <cstdint>
#include <string>

#include "common/status.h"

namespace hai {

struct GpuSet {
  uint64_t bits = 0;

  static constexpr int kMax = 64;
  // The first `count` GPUs, 0 <= count <= 64.
  static constexpr GpuSet first(int count) {
    return {count >= kMax ? ~uint64_t{0} : (uint64_t{1} << count) - 1};
  }
  int count() const { return std::popcount(bits); }
  bool contains(int index) const { return (bits >> index & 1) != 0; }
  bool is_empty() const { return bits == 0; }
  auto operator<=>(const GpuSet&) const = default;
};

inline GpuSet operator|(GpuSet a, GpuSet b) { return {a.bits | b.bits}; }
inline GpuSet operator&(GpuSet a, GpuSet b) { return {a.bits & b.bits}; }
inline GpuSet without(GpuSet a, GpuSet b) { return {a.bits & ~b.bits}; }

std::string to_string(GpuSet gpus);  // "0,1,5"; "" for none
Result<GpuSet> parse_gpu_set(std::string_view text);

}  // namespace hai
