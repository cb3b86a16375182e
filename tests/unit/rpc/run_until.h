#pragma once
// Runs a real loop on the test's thread until something has come true; false when it has not within
// 10 s. There is no sleeping: gRPC's threads post, and each post is looked at within a millisecond.

#include <functional>

#include "common/asio_loop.h"

namespace hai {

inline bool run_until(AsioLoop& loop, const std::function<bool()>& is_true) {
  const MonoTime deadline = loop.now() + 10s;
  bool result = false;
  std::function<void()> look = [&] {
    result = is_true();
    if (result || loop.now() > deadline) {
      loop.stop();
    } else {
      loop.call_after(1ms, look);
    }
  };
  loop.post(look);
  loop.run();
  return result;
}

}  // namespace hai
