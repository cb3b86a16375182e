#include "common/boot_clock.h"

#include <time.h>

namespace hai {

namespace {

Duration read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec / 1000);
}

}  // namespace

MonoTime boot_now() { return MonoTime(read_clock(CLOCK_BOOTTIME)); }
UnixTime system_now() { return UnixTime(read_clock(CLOCK_REALTIME)); }

}  // namespace hai
