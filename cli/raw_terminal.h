#pragma once
// The terminal of this process, taken over for a program elsewhere.

#include <sys/ioctl.h>

namespace hai::cli {

// Gives each key as it is pressed while this lives. The end of the process by a signal gives the
// terminal back, too.
class RawTerminal {
 public:
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
};

// While a RawTerminal lives, each change of its size is a byte written there; -1 = nowhere.
void tell_of_resize(int fd);

// All zero if `fd` is no terminal.
winsize window_size(int fd);

}  // namespace hai::cli
