#pragma once
// How far a long command is: a line on a terminal that is written over, else a line every few
// seconds. On stderr.

#include <chrono>
#include <cstdint>
#include <string>

namespace hai {

class Progress {
 public:
  explicit Progress(std::string noun);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(int64_t done, int64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string noun_;
  const bool is_terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  bool told_ = false;
};

}  // namespace hai
