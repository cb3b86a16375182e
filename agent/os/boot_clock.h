#pragma once
// The clock that agent and shims share: CLOCK_BOOTTIME as MonoTime. It goes on while the machine
// sleeps, so that a lease can't outlive its time that way. Only agent/os and agent/shim read clocks
// themselves.

#include "common/time.h"

namespace hai {

MonoTime boot_now();
UnixTime system_now();

}  // namespace hai
