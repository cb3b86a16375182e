#include "cli/raw_terminal.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace hai::cli {
namespace {

termios terminal_before{};
std::atomic<bool> is_raw = false;
std::atomic<int> resized_fd = -1;  // where the handler says that the window has changed

void give_terminal_back() {
  if (is_raw.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal_before);
}

void end_by(int signal) {
  give_terminal_back();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void note_resize(int) {
  const int before = errno;
  const int fd = resized_fd.load();
  if (fd >= 0) static_cast<void>(!::write(fd, "r", 1));
  errno = before;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

RawTerminal::RawTerminal() {
  if (::tcgetattr(STDIN_FILENO, &terminal_before) != 0) return;
  termios raw = terminal_before;
  ::cfmakeraw(&raw);
  is_raw = true;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) handle(signal, end_by);
  handle(SIGWINCH, note_resize);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

RawTerminal::~RawTerminal() { give_terminal_back(); }

void tell_of_resize(int fd) { resized_fd = fd; }

winsize window_size(int fd) {
  winsize window{};
  if (::ioctl(fd, TIOCGWINSZ, &window) != 0) return {};
  return window;
}

}  // namespace hai::cli
