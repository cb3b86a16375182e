#pragma once
// How much one person may have stored in large job specs: each is kept for ever in the event log,
// so that a few hundred with full environments would fill the store. Jobs of ordinary size cost
// nothing. On the loop's thread.

#include <map>
#include <string>

#include "common/job_spec.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

// Of the parts of a spec that may be long.
int64_t long_parts_bytes(const JobSpec& spec);

class LargeSpecs {
 public:
  static constexpr int64_t kFreeBytes = 4 << 10;  // of each job
  static constexpr int64_t kBytesMax = 64 << 20;  // of a person, at once
  static constexpr Duration kRefillTime = 1h;     // from nothing to kBytesMax
  static constexpr size_t kPeopleMax = 10'000;    // of whom it remembers what they have left

  // Takes the bytes from what the person has left, or `resource_exhausted` with how long to wait.
  Status take(const std::string& user, int64_t bytes, UnixTime now);
  // Of a take() whose job was refused after all.
  void give_back(const std::string& user, int64_t bytes, UnixTime now);

 private:
  struct Left {
    int64_t bytes = kBytesMax;
    UnixTime at{};
  };
  static Left refilled(Left left, UnixTime now);

  std::map<std::string, Left> people_;  // who is not here has all
};

}  // namespace hai
