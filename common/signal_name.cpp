#include "common/signal_name.h"

#include <array>
#include <csignal>

namespace hai {
namespace {

struct NamedSignal {
  std::string_view name;
  int number;
};
constexpr auto kSignals = std::to_array<NamedSignal>({
    {"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},     {"BUS", SIGBUS},   {"FPE", SIGFPE},
    {"KILL", SIGKILL}, {"USR1", SIGUSR1},     {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},
    {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"PWR", SIGPWR},       {"SYS", SIGSYS},
});

}  // namespace

Result<int> parse_signal(std::string_view text) {
  std::string name(text.substr(0, 64));
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (const NamedSignal& signal : kSignals) {
    if (signal.name == name) return signal.number;
  }
  return invalid_argument("unknown signal '{}', write a name like SIGUSR1", text.substr(0, 64));
}

std::string signal_name(int signal) {
  for (const NamedSignal& known : kSignals) {
    if (known.number == signal) return fmt::format("SIG{}", known.name);
  }
  return fmt::format("signal {}", signal);
}

}  // namespace hai
