#pragma once
// Time that has passed, for measurements.

#include <chrono>

#include "common/time.h"

namespace hai::validator {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool is_over(Duration limit) const {
    return seconds() >= std::chrono::duration<double>(limit).count();
  }
  Duration left(Duration limit) const {
    const Duration passed =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start_);
    return passed >= limit ? Duration::zero() : limit - passed;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hai::validator
