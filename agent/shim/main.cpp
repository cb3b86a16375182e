// hai-shim --dir RANKDIR: holds one rank so that the agent can crash or be upgraded.
// hai-shim --shell RANKDIR: becomes a program beside those of the rank, for a person.
// Started by the agent only.

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstring>
#include <string>

#include "agent/os/confinement.h"
#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/os/process_table.h"
#include "agent/os/rank_directory.h"
#include "agent/os/shell_file.h"
#include "agent/os/shim_process.h"
#include "agent/shim/complain.h"
#include "agent/shim/near_cpus.h"
#include "agent/shim/share_log.h"
#include "agent/shim/shell_entry.h"
#include "agent/shim/shim.h"

namespace hai {

namespace {

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kUsage = 2;

// Nothing of the agent may hold us: no terminal, no session, no directory, no open file.
void detach() {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::setsid();
  static_cast<void>(!::chdir("/"));
  ::close_range(kShimControlFd + 1, ~0u, 0);
  for (const int fd : {kShimLockFd, kShimControlFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// The last to be killed for memory: then the kernel has killed the program itself first. Best
// effort.
void protect_from_oom() {
  const UniqueFd fd(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (fd.is_open()) static_cast<void>(!::write(fd.get(), "-900", 4));
}

// For who must end a shim that does not answer: its pid, and when it began, since pids are used
// again.
void write_identity(int lock_fd) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), process_start_ticks(::getpid()));
  if (::ftruncate(lock_fd, 0) != 0 ||
      ::pwrite(lock_fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    complain("cannot write my pid: " + errno_text(errno));
  }
}

class SignalReader {
 public:
  SignalReader(boost::asio::io_context& context, Shim& shim)
      : descriptor_(context, make_fd()), shim_(shim) {}

  void wait() {
    descriptor_.async_wait(descriptor_.wait_read, [this](boost::system::error_code error) {
      if (error) return;
      signalfd_siginfo info{};
      while (::read(descriptor_.native_handle(), &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
          shim_.child_changed();
        } else {
          shim_.asked_to_end(static_cast<int>(info.ssi_signo));
        }
      }
      wait();
    });
  }

 private:
  static int make_fd() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    return ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  }

  boost::asio::posix::stream_descriptor descriptor_;
  Shim& shim_;
};

int fail(const Status& status) {
  complain(status.message());
  return kError;
}

int run(const RankDirectory& directory) {
  const UniqueFd lock(kShimLockFd);
  UniqueFd control(kShimControlFd);
  write_identity(lock.get());
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  if (!text.is_ok()) return fail(text.status());
  Result<LaunchFile> launch = launch_file_from_json(text.value());
  if (!launch.is_ok()) return fail(launch.status());
  stay_on_cpus(launch.value().cpus);
  Result<UserIdentity> user = find_user(
      launch.value().user, {.unknown_runs_as_self = launch.value().unknown_user_runs_as_self,
                            .system_users = launch.value().confinement.system_users,
                            .uid_min = read_uid_min()});
  if (user.is_ok() && user.value().switch_user) {
    const Status shared = share_log(launch.value().log_dir, user.value().uid);
    if (!shared.is_ok()) complain(shared.message());
  }
  Result<LogSpool> spool = LogSpool::open(launch.value().log_dir, launch.value().log_limits);
  if (!spool.is_ok()) return fail(spool.status());

  boost::asio::io_context context(1);
  Shim shim(context, directory, std::move(launch).value(), std::move(user),
            std::move(spool).value(), control.release());
  SignalReader signals(context, shim);
  signals.wait();
  const Status started = shim.start([&context] { context.stop(); });
  if (!started.is_ok()) return fail(started);
  context.run();
  return kOk;
}

}  // namespace

}  // namespace hai

int main(int argc, char** argv) {
  const bool is_shell = argc == 3 && std::strcmp(argv[1], "--shell") == 0;
  if (is_shell && ::fcntl(hai::kShellRequestFd, F_GETFD) >= 0) {
    hai::hide_from_own_user();
    return hai::enter_rank({argv[2]});
  }
  const bool has_directory = argc == 3 && std::strcmp(argv[1], "--dir") == 0;
  if (!has_directory || ::fcntl(hai::kShimControlFd, F_GETFD) < 0 ||
      ::fcntl(hai::kShimLockFd, F_GETFD) < 0) {
    hai::complain("usage: hai-shim --dir RANKDIR; started by hai-agent only");
    return hai::kUsage;
  }
  hai::detach();
  hai::protect_from_oom();
  hai::hide_from_own_user();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return hai::run({argv[2]});
}
