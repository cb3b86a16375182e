#pragma once
// What standard output is: a person's terminal or a file. Colour only for people who have not set
// NO_COLOR.

namespace hai::cli {

struct Terminal {
  bool is_tty = false;
  bool colour = false;
  int width = 0;  // columns; 0 = no limit
};

Terminal stdout_terminal();

}  // namespace hai::cli
