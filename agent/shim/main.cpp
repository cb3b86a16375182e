// hai-shim --dir RANKDIR [--lock-fd N]: holds one rank so that the agent can crash or be upgraded.
// Started by the agent only.

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/os/process_table.h"
#include "agent/os/rank_directory.h"
#include "agent/shim/shim.h"

namespace hai {

namespace {

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kUsage = 2;

struct Arguments {
  std::string directory;
  int lock_fd = -1;
};

bool parse_arguments(int argc, char** argv, Arguments& out) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--dir") == 0) {
      out.directory = argv[i + 1];
    } else if (std::strcmp(argv[i], "--lock-fd") == 0) {
      out.lock_fd = std::atoi(argv[i + 1]);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && !out.directory.empty();
}

// Nothing of the agent may hold us: no terminal, no session, no directory, no open file.
void detach(int lock_fd) {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::setsid();
  static_cast<void>(!::chdir("/"));
  const unsigned first = static_cast<unsigned>(std::max(lock_fd, STDERR_FILENO)) + 1;
  ::close_range(first, ~0u, 0);
  if (lock_fd >= 0) ::fcntl(lock_fd, F_SETFD, FD_CLOEXEC);
}

// The last to be killed for memory: then the kernel has killed the program itself first. Best
// effort.
void protect_from_oom() {
  const UniqueFd fd(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (fd.is_open()) static_cast<void>(!::write(fd.get(), "-900", 4));
}

// The job's user may read its log, but not write there: the agent, which is root, must be able to
// trust what it finds.
void share_log(const std::string& log_dir, const UserIdentity& user) {
  if (!user.switch_user) return;
  const bool shared =
      ::chown(log_dir.c_str(), 0, user.gid) == 0 &&
      ::chmod(log_dir.c_str(), S_ISGID | 0750) == 0;  // Files get the directory's group.
  if (!shared) fmt::print(stderr, "cannot share log {}: {}\n", log_dir, errno_text(errno));
}

// For who must end a shim that does not answer: its pid, and when it began, since pids are used
// again.
void write_identity(int lock_fd) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), process_start_ticks(::getpid()));
  if (::ftruncate(lock_fd, 0) != 0 ||
      ::pwrite(lock_fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    fmt::print(stderr, "cannot write my pid: {}\n", errno_text(errno));
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
  fmt::print(stderr, "{}\n", status.message());
  return kError;
}

int run(const Arguments& arguments) {
  const RankDirectory directory{arguments.directory};
  UniqueFd lock(arguments.lock_fd);
  if (!lock.is_open()) {
    Result<UniqueFd> taken = lock_file(directory.lock_file());
    if (!taken.is_ok()) return fail(taken.status());
    lock = std::move(taken).value();
  }
  write_identity(lock.get());
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  if (!text.is_ok()) return fail(text.status());
  Result<LaunchFile> launch = launch_file_from_json(text.value());
  if (!launch.is_ok()) return fail(launch.status());
  Result<UserIdentity> user =
      find_user(launch.value().user, launch.value().unknown_user_runs_as_self);
  if (user.is_ok()) share_log(launch.value().log_dir, user.value());
  Result<LogSpool> spool = LogSpool::open(launch.value().log_dir, launch.value().log_limits);
  if (!spool.is_ok()) return fail(spool.status());

  boost::asio::io_context context(1);
  Shim shim(context, directory, std::move(launch).value(), std::move(user),
            std::move(spool).value());
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
  hai::Arguments arguments;
  if (!hai::parse_arguments(argc, argv, arguments)) {
    fmt::print(stderr, "usage: hai-shim --dir RANKDIR [--lock-fd N]\n");
    return hai::kUsage;
  }
  hai::detach(arguments.lock_fd);
  hai::protect_from_oom();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return hai::run(arguments);
}
