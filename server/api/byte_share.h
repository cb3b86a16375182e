#pragma once
// How many bytes one person may have stored: what changes something is kept for ever in the event
// log, so that one who repeats it in a loop would fill the store. On the loop's thread.

#include <map>
#include <optional>
#include <string>

#include "common/time.h"

namespace hai {

class ByteShare {
 public:
  static constexpr size_t kPeopleMax = 10'000;  // of whom it remembers what they have left

  // Each person has `bytes_max` at once, and `refill_time` after he had nothing left.
  explicit ByteShare(int64_t bytes_max, Duration refill_time = 1h)
      : bytes_max_(bytes_max), refill_time_(refill_time) {}

  // Takes the bytes from what the person has left; else says for how long to wait for them.
  // `bytes` is at most bytes_max.
  std::optional<Duration> take(const std::string& user, int64_t bytes, UnixTime now);
  // Of a take() whose change was refused after all.
  void give_back(const std::string& user, int64_t bytes, UnixTime now);

 private:
  struct Left {
    int64_t bytes = 0;
    UnixTime at{};
  };
  Left left_of(const std::string& user, UnixTime now) const;
  Left refilled(Left left, UnixTime now) const;

  const int64_t bytes_max_;
  const Duration refill_time_;
  std::map<std::string, Left> people_;  // who is not here has all
};

}  // namespace hai
