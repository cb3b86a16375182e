#include "cli/top/terminal_guard.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "common/check.h"

namespace hai::cli::top {
namespace {

// The other screen, the cursor hidden; and back. Plain ANSI: every terminal since the VT220 knows
// it, and no terminfo has to be there.
constexpr std::string_view kTake = "\033[?1049h\033[?25l\033[H\033[2J";
constexpr std::string_view kGiveBack = "\033[0m\033[?25h\033[?1049l";
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

// Of the one guard; read by the handler of a crash.
termios original{};
volatile std::sig_atomic_t is_taken = 0;

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Only what a signal handler may do.
void on_crash(int signal) {
  if (is_taken != 0) {
    write_all(kGiveBack);
    tcsetattr(STDIN_FILENO, TCSANOW, &original);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

TerminalGuard::TerminalGuard() {
  CHECK(is_taken == 0);
  CHECK(tcgetattr(STDIN_FILENO, &original) == 0);
  for (const int signal : kCrashes) std::signal(signal, on_crash);
  take();
}

TerminalGuard::~TerminalGuard() {
  give_back();
  for (const int signal : kCrashes) std::signal(signal, SIG_DFL);
}

void TerminalGuard::take() const {
  termios raw = original;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON | ISTRIP | INLCR);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  is_taken = 1;
  write_all(kTake);
}

void TerminalGuard::give_back() {
  write_all(kGiveBack);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &original);
  is_taken = 0;
}

void TerminalGuard::stop_and_return() {
  give_back();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  // Not SIGSTOP: where no shell could continue us, the system lets this one pass.
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  kill(0, SIGTSTP);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  take();
}

bool TerminalGuard::write(const std::string& text) const { return write_all(text); }

Size TerminalGuard::size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.width = size.ws_col, .height = size.ws_row};
}

}  // namespace hai::cli::top
