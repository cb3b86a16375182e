#pragma once
// What standard output or error is: a person's terminal or a file. Colour only for people who have
// not set NO_COLOR.

namespace hai::cli {

struct Terminal {
  bool is_tty = false;
  bool colour = false;
  int width = 0;  // columns; 0 = no limit
  int height = 0;
  bool moves_cursor = false;
};

Terminal stdout_terminal();
Terminal stderr_terminal();

}  // namespace hai::cli
