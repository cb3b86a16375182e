#include "common/machine/bounded_child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hai {

namespace {

constexpr int kReapTries = 20;
constexpr int kReapPauseMs = 10;
constexpr int kLookMs = 1'000;

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
}

void read_until(int fd, Clock::time_point end, size_t bytes_max,
                const std::function<bool()>& goes_on, ChildOutput& output) {
  char buffer[4096];
  while (true) {
    pollfd polled{fd, POLLIN, 0};
    const int left = left_ms(end);
    const int ready = ::poll(&polled, 1, goes_on ? std::min(left, kLookMs) : left);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && goes_on && left > 0) {
      output.is_given_up = !goes_on();
      if (output.is_given_up) return;
      continue;
    }
    if (ready == 0) output.is_late = true;
    if (ready <= 0) return;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // It has closed its output.
    const size_t room = bytes_max - output.text.size();
    output.text.append(buffer, std::min(room, static_cast<size_t>(got)));
    if (static_cast<size_t>(got) > room) {
      output.is_truncated = true;
      return;
    }
  }
}

// One that is stuck in the kernel is not waited for; whoever inherits it reaps it.
void reap(pid_t pid, Clock::time_point end, ChildOutput& output) {
  int status = 0;
  bool is_killed = output.is_late || output.is_truncated || output.is_given_up;
  if (is_killed) ::kill(-pid, SIGKILL);
  for (int tries = 0; tries < kReapTries;) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid) {
      if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
      ::kill(-pid, SIGKILL);  // What it left behind.
      return;
    }
    if (done < 0 && errno != EINTR) return;
    if (!is_killed && left_ms(end) == 0) {
      output.is_late = is_killed = true;
      ::kill(-pid, SIGKILL);
    }
    if (is_killed) ++tries;
    ::poll(nullptr, 0, kReapPauseMs);
  }
}

}  // namespace

void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

ChildOutput run_in_child(const std::function<void(int)>& work, const ChildLimits& limits,
                         const std::function<bool()>& goes_on) {
  ChildOutput output;
  const auto end = Clock::now() + limits.patience;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    output.text = std::string("no pipe: ") + std::strerror(errno);
    return output;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    // A program that the work becomes has nothing of ours that is open.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    work(STDOUT_FILENO);
    ::_exit(0);
  }
  ::close(ends[1]);
  if (pid < 0) {
    output.text = std::string("no process: ") + std::strerror(errno);
    ::close(ends[0]);
    return output;
  }
  ::setpgid(pid, pid);  // Also done by the child: either may run first.
  read_until(ends[0], end, limits.bytes_max, goes_on, output);
  ::close(ends[0]);
  reap(pid, end, output);
  return output;
}

ChildOutput run_for_text(const std::function<std::string()>& work, const ChildLimits& limits) {
  return run_in_child(
      [&](int out) {
        const std::string text = work();
        for (size_t done = 0; done < text.size();) {
          const ssize_t count = ::write(out, text.data() + done, text.size() - done);
          if (count < 0 && errno == EINTR) continue;
          if (count <= 0) return;
          done += static_cast<size_t>(count);
        }
      },
      limits);
}

ChildOutput run_command(const std::vector<std::string>& words, const ChildLimits& limits) {
  return run_in_child([&](int) { execute(words); }, limits);
}

}  // namespace hai
