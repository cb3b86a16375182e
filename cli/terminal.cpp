#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hai::cli {

namespace {

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.is_tty = isatty(descriptor) == 1;
  if (!terminal.is_tty) return terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* type = std::getenv("TERM");
  terminal.moves_cursor = type != nullptr && *type != '\0' && std::string_view(type) != "dumb";
  terminal.colour = terminal.moves_cursor && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  const bool is_known = ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  terminal.width = is_known && size.ws_col > 0 ? size.ws_col : 80;
  terminal.height = is_known && size.ws_row > 0 ? size.ws_row : 24;
  return terminal;
}

}  // namespace

Terminal stdout_terminal() { return terminal_of(STDOUT_FILENO); }

Terminal stderr_terminal() { return terminal_of(STDERR_FILENO); }

}  // namespace hai::cli
