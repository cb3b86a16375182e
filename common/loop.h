#pragma once
// The seam between logic and the world: a single-threaded event loop. Production runs it on
// Boost.Asio (asio_loop.h), the simulator on virtual time. All callbacks run on the loop's thread.
// post() alone may be called from any thread.

#include <functional>

#include "common/time.h"

namespace hai {

using TimerId = int64_t;  // 0 is never a timer

class Loop {
 public:
  virtual ~Loop() = default;
  virtual MonoTime now() const = 0;
  virtual UnixTime wall_now() const = 0;
  virtual void post(std::function<void()> callback) = 0;
  virtual TimerId call_after(Duration delay, std::function<void()> callback) = 0;
  // Cancelling a timer that has fired or 0 does nothing.
  virtual void cancel(TimerId timer) = 0;
};

}  // namespace hai
