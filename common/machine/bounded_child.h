#pragma once
// Work in a child process that may be stuck in the kernel or talk without end: it gets a deadline
// and a bound for what it says. For programs with one thread, as it forks.

#include <functional>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai {

struct ChildLimits {
  Duration patience{5s};
  size_t bytes_max = 32 << 10;
};

struct ChildOutput {
  std::string text;           // stdout and stderr, cut at bytes_max
  bool is_truncated = false;  // it was killed for saying more
  bool is_late = false;       // it was killed at the deadline
  bool is_given_up = false;   // it was killed because `goes_on` said no
  int exit_code = -1;         // −1 = it did not exit by itself
};

// The work writes to the descriptor, its standard output. Killed with all that it has started in
// its process group. `goes_on` is asked each second while it says nothing; without it, always.
ChildOutput run_in_child(const std::function<void(int)>& work, const ChildLimits& limits,
                         const std::function<bool()>& goes_on = nullptr);
// For such work: becomes this program, found by PATH; ends with 127 if there is none.
[[noreturn]] void execute(const std::vector<std::string>& words);
// The same for work that says all it has to say at its end.
ChildOutput run_for_text(const std::function<std::string()>& work, const ChildLimits& limits);
ChildOutput run_command(const std::vector<std::string>& words, const ChildLimits& limits);

}  // namespace hai
