#pragma once
// Memory bandwidth as STREAM (McCalpin, 1995) measures it: a[i] = b[i] + s · c[i] over arrays much
// larger than the caches, on all CPUs at once, each on memory next to it.

#include <cstdint>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai::validator {

struct TriadResult {
  double gigabytes_per_second = 0;  // of the best pass; 24 bytes an element
  int passes = 0;
  int64_t wrong_elements = 0;
  std::string first_wrong;  // where and what
};

TriadResult run_triad(const std::vector<int>& cpus, int64_t total_bytes, Duration seconds);

// For three arrays together: a good part of what is free to this process, at most 8 GiB.
int64_t triad_bytes(const std::string& sys_root, const std::string& proc_root, bool is_quick);

}  // namespace hai::validator
