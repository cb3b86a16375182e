#include "common/service_manager.h"

#include <systemd/sd-daemon.h>

#include <chrono>

namespace hai {
namespace {

Duration watchdog_patience() {
  uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return Duration{0};
  return std::chrono::duration_cast<Duration>(std::chrono::microseconds(micros));
}

}  // namespace

ServiceManager::ServiceManager(Loop& loop) : period_(watchdog_patience() / 2), timer_(loop) {}

void ServiceManager::ready() {
  sd_notify(0, "READY=1");
  if (period_ > Duration{0}) feed();
}

void ServiceManager::reload(const std::function<void()>& work) {
  sd_notify(0, "RELOADING=1");
  work();
  sd_notify(0, "READY=1");
}

void ServiceManager::stopping() { sd_notify(0, "STOPPING=1"); }

void ServiceManager::feed() {
  sd_notify(0, "WATCHDOG=1");
  timer_.arm(period_, [this] { feed(); });
}

}  // namespace hai
