#pragma once
// How the server stands, for threads other than the controller's. Written on the loop whenever it
// changes; read by whoever answers a request.

#include <mutex>

#include "server/control/standing.h"

namespace hai {

class StandingBoard {
 public:
  void set(Standing standing) {
    const std::lock_guard lock(mutex_);
    standing_ = std::move(standing);
  }
  Standing get() const {
    const std::lock_guard lock(mutex_);
    return standing_;
  }

 private:
  mutable std::mutex mutex_;
  Standing standing_;
};

}  // namespace hai
