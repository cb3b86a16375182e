#pragma once
// The system's clocks, for the adapters: all else asks its Loop.

#include "common/time.h"

namespace hai {

// CLOCK_BOOTTIME, the clock of a machine's AsioLoops and shims. It goes on while the machine
// sleeps, so that no lease outlives its time that way.
MonoTime boot_now();
UnixTime system_now();

}  // namespace hai
