#pragma once
// What /proc says about the processes of this machine. Snapshots: a process may be gone, or a new
// one there, by the time the caller looks. Zombies count as gone.

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hai {

// All processes below `root` (not itself), whatever sessions they made. Complete if `root` is a
// subreaper.
std::vector<pid_t> descendants_of(pid_t root);

// Processes whose initial environment has exactly this "NAME=value".
std::vector<pid_t> processes_with_environment(std::string_view entry);

// What a process does about a signal; `catches` also for one whose handler was set by its runtime.
enum class SignalDisposition { dies, catches, ignores, gone };
SignalDisposition signal_disposition(pid_t pid, int signal);

bool is_process_alive(pid_t pid);

// When the process began, in clock ticks since boot: tells it from a later one with its pid. 0 if
// there is none.
uint64_t process_start_ticks(pid_t pid);

}  // namespace hai
