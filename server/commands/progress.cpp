#include "server/commands/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace hai {

Progress::Progress(std::string noun)
    : noun_(std::move(noun)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_terminal_ && told_) std::fputc('\n', stderr);
}

void Progress::operator()(int64_t done, int64_t total) {
  const Clock::time_point now = Clock::now();
  if (now - last_ < (is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5)))
    return;
  last_ = now;
  told_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "{}{} of {} {}, {:.0f}/s{}", is_terminal_ ? "\r" : "", done, total, noun_,
             static_cast<double>(done) / seconds, is_terminal_ ? "    " : "\n");
  std::fflush(stderr);
}

}  // namespace hai
