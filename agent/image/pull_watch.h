#pragma once
// Watches a copy on its way into a folder: how much is there, and whether anything still comes.

#include <cstdint>
#include <functional>
#include <string>

#include "common/time.h"

namespace hai {

class PullWatch {
 public:
  static constexpr Duration kFirstWord = 3s;

  // `measure`: the bytes that are there by now. `bytes_total`: 0 = nobody knows. `say` is told how
  // far it is, now and then: the longer it lasts, the less often.
  PullWatch(int64_t bytes_total, Duration patience, std::function<int64_t()> measure,
            std::function<void(const std::string&)> say)
      : bytes_total_(bytes_total),
        patience_(patience),
        measure_(std::move(measure)),
        say_(std::move(say)) {}

  // To be called about once a second. False: nothing has come for `patience`.
  bool goes_on(MonoTime now);
  // "1.2 of 4.7 GB"
  std::string text() const;

 private:
  const int64_t bytes_total_;
  const Duration patience_;
  const std::function<int64_t()> measure_;
  const std::function<void(const std::string&)> say_;
  int64_t bytes_ = 0;
  MonoTime began_at_{};  // 0 = it was not called yet
  MonoTime came_at_{};
  MonoTime said_at_{};
};

}  // namespace hai
