#pragma once
// Tells the service manager (systemd) how this program fares: that it is ready, reloads or stops,
// and, from ready() on, that its loop still turns. Does nothing where no service manager listens.
// Lives on the loop's thread: only the loop itself feeds the watchdog, so that a hung one is
// noticed.

#include <functional>

#include "common/loop_scope.h"

namespace hai {

class ServiceManager {
 public:
  explicit ServiceManager(Loop& loop);

  // It serves. From now on the watchdog is fed, twice as often as it asks for.
  void ready();
  // What SIGHUP asks for: `work` is done between "reloads" and "ready".
  void reload(const std::function<void()>& work);
  // It is on its way out; the watchdog is still fed until the loop ends.
  void stopping();

 private:
  void feed();

  Duration period_{0};  // 0 = no watchdog
  LoopTimer timer_;
};

}  // namespace hai
