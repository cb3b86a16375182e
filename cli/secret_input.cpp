#include "cli/secret_input.h"

#include <fmt/core.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

namespace hai::cli {
namespace {

// While it lives, what is typed is not shown; an interrupted prompt leaves that to the shell.
class NoEcho {
 public:
  NoEcho() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_set_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~NoEcho() {
    if (is_set_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  termios before_{};
  bool is_set_ = false;
};

// To its end, or of a terminal one line; no more than is too much.
std::string read_input(bool is_line, size_t bytes_max) {
  std::string text;
  char byte = 0;
  while (text.size() <= bytes_max && read(STDIN_FILENO, &byte, 1) == 1) {
    if (is_line && byte == '\n') break;
    text += byte;
  }
  return text;
}

}  // namespace

std::string read_secret_input(const std::string& prompt, size_t bytes_max) {
  if (isatty(STDIN_FILENO) == 1) {
    fmt::print(stderr, "{}", prompt);
    const NoEcho no_echo;
    std::string value = read_input(true, bytes_max);
    fmt::print(stderr, "\n");
    return value;
  }
  std::string value = read_input(false, bytes_max + 1);  // and the newline
  if (value.ends_with('\n')) value.pop_back();           // of `echo`
  return value;
}

}  // namespace hai::cli
