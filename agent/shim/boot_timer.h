#pragma once
// One deadline on the boot clock (boot_clock.h), which Asio's own timers don't know.

#include <functional>
#include <memory>

#include "common/time.h"

namespace boost::asio {
class io_context;
}

namespace hai {

class BootTimer {
 public:
  BootTimer(boost::asio::io_context& context, std::function<void()> expired);
  ~BootTimer();
  // Replaces the deadline before; one in the past expires at once.
  void set(MonoTime deadline);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
