#include "agent/os/signal_names.h"

#include <csignal>
#include <cstring>

namespace hai {

Result<int> parse_signal(std::string_view name) {
  if (name.empty()) return 0;
  std::string_view bare = name;
  if (bare.starts_with("SIG")) bare.remove_prefix(3);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    const char* known = ::sigabbrev_np(signal);
    if (known != nullptr && bare == known) return signal;
  }
  return invalid_argument("unknown signal {}; use a name such as SIGUSR1", name);
}

}  // namespace hai
