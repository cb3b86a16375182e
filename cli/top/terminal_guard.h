#pragma once
// Takes the terminal for a full-screen program and gives it back as it was: on every way out, a
// crash too. One at a time.

#include <string>

#include "cli/top/screen.h"

namespace hai::cli::top {

class TerminalGuard {
 public:
  TerminalGuard();
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  // Gives it back, stops this program until the shell continues it, takes it again.
  void stop_and_return();
  // False: the terminal is gone.
  bool write(const std::string& text) const;

  static Size size();

 private:
  void take() const;
  static void give_back();
};

}  // namespace hai::cli::top
