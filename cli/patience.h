#pragma once
// How long a command that follows something puts up with a server that is away: pauses that grow to
// 2 s, for at most 5 minutes since it last heard something. The first failure is told to the user,
// the rest are not.

#include <chrono>

#include "common/status.h"
#include "common/time.h"

namespace hai::cli {

class Patience {
 public:
  Patience();
  void heard();  // the server answered: start anew
  // True after a pause if `status` may be over soon; false if it is final or has lasted too long.
  bool retry(const Status& status);

 private:
  MonoTime last_heard_;
  Duration pause_;
  bool told_ = false;
};

inline MonoTime mono_now() {
  return MonoTime(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace hai::cli
