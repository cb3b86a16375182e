#include "agent/shim/complain.h"

#include <unistd.h>

#include <string>

namespace hai {

// Not fmt::print: it throws when it can't write.
void complain(std::string_view text) {
  const std::string line = std::string(text) + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace hai
