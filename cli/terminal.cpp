#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hai::cli {

Terminal stdout_terminal() {
  Terminal terminal;
  terminal.is_tty = isatty(STDOUT_FILENO) == 1;
  if (!terminal.is_tty) return terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* type = std::getenv("TERM");
  terminal.colour = (no_colour == nullptr || *no_colour == '\0') &&
                    !(type != nullptr && std::string_view(type) == "dumb");
  winsize size{};
  terminal.width =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  return terminal;
}

}  // namespace hai::cli
