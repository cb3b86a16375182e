#include "agent/shim/save_signal.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "agent/os/process_table.h"

namespace hai {

namespace {

struct Audience {
  std::set<pid_t> catching;
  std::set<pid_t> dying;
};

Audience find_audience(int signal) {
  Audience audience;
  for (const pid_t pid : descendants_of(::getpid())) {
    const SignalDisposition does = signal_disposition(pid, signal);
    if (does == SignalDisposition::catches) audience.catching.insert(pid);
    if (does == SignalDisposition::dies) audience.dying.insert(pid);
  }
  return audience;
}

void tell(const std::set<pid_t>& processes, int signal) {
  for (const pid_t pid : processes) ::kill(pid, signal);
  for (const pid_t pid : processes) ::kill(pid, SIGCONT);  // for those that are stopped
}

}  // namespace

bool SaveSignal::send() {
  Audience audience = find_audience(signal_);
  const bool is_caught = !audience.catching.empty();
  tell(is_caught ? audience.catching : audience.dying, signal_);
  told_to_die_.clear();
  if (is_caught) return true;
  told_to_die_ = std::move(audience.dying);
  return !told_to_die_.empty();
}

void SaveSignal::send_to_new() {
  if (told_to_die_.empty()) return;
  Audience audience = find_audience(signal_);
  audience.dying.merge(audience.catching);
  std::set<pid_t> fresh;
  for (const pid_t pid : audience.dying) {
    if (told_to_die_.count(pid) == 0) fresh.insert(pid);
  }
  tell(fresh, signal_);
  told_to_die_ = std::move(audience.dying);  // pids are used again
}

}  // namespace hai
