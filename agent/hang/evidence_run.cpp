#include "agent/hang/evidence_run.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "agent/os/helper_program.h"

extern char** environ;

namespace hai {

namespace {

constexpr Duration kGrace{1s};  // for the helper to keep its own deadline
constexpr size_t kSummaryBytesMax = 1000;

std::vector<std::string> words_of(const EvidenceOrder& order) {
  std::vector<std::string> words = {
      order.program.empty() ? helper_program("hai-hang-evidence") : order.program, "--patience",
      format_duration(order.patience)};
  if (order.shim > 0) words.insert(words.end(), {"--below", std::to_string(order.shim)});
  for (const std::string& cgroup : order.cgroups) words.insert(words.end(), {"--cgroup", cgroup});
  if (!order.nvml_library.empty())
    words.insert(words.end(), {"--nvml-library", order.nvml_library});
  if (!order.sys_root.empty()) words.insert(words.end(), {"--sys-root", order.sys_root});
  return words;
}

// Our process has threads, so it must not run code of its own between fork and exec.
Result<pid_t> spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // What of ours was not opened to be closed, as the connections to the shims of all ranks here:
  // the helper starts programs that a rank's user may take over.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  ::posix_spawnattr_init(&attributes);
  // In a session of its own, with no signal blocked or ignored.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return unavailable("{}: {}", words[0], errno_text(error));
  return pid;
}

}  // namespace

Result<EvidenceRun> EvidenceRun::start(const EvidenceOrder& order, MonoTime now) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return unavailable("no pipe: {}", errno_text(errno));
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const Result<pid_t> pid = spawn(words_of(order), write_end.get());
  if (!pid.is_ok()) return pid.status();
  return EvidenceRun(pid.value(), std::move(read_end), now + order.patience + kGrace);
}

EvidenceRun::EvidenceRun(EvidenceRun&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      output_(std::move(other.output_)),
      until_(other.until_),
      said_(std::move(other.said_)) {}

EvidenceRun::~EvidenceRun() { end(); }

void EvidenceRun::end() {
  output_.reset();
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  // It reads nothing that can hold it in the kernel, its children do; should it hold all the same,
  // a zombie is left until we end.
  for (int tries = 0; tries < 50 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++tries) ::usleep(1000);
  pid_ = 0;
}

bool EvidenceRun::read_some() {
  char buffer[16 << 10];
  while (said_.size() < kHangEvidenceBytesMax + kSummaryBytesMax) {
    const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
    if (got > 0) {
      said_.append(buffer, static_cast<size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return true;
    } else if (errno == EAGAIN) {
      return false;
    }
  }
  return true;
}

HangEvidence EvidenceRun::take(std::string_view trouble) {
  end();
  const size_t line = said_.find('\n');
  HangEvidence evidence{.summary = said_.substr(0, std::min(line, kSummaryBytesMax)),
                        .text = line == std::string::npos ? "" : said_.substr(line + 1)};
  if (evidence.text.size() > kHangEvidenceBytesMax) evidence.text.resize(kHangEvidenceBytesMax);
  if (!trouble.empty())
    evidence.summary = evidence.summary.empty() ? std::string(trouble)
                                                : fmt::format("{}; {}", evidence.summary, trouble);
  return evidence;
}

std::optional<HangEvidence> EvidenceRun::poll(MonoTime now) {
  if (pid_ <= 0) return std::nullopt;
  if (read_some()) return take(said_.empty() ? "nothing was said of the processes" : "");
  if (now >= until_) return take("no evidence in time");
  return std::nullopt;
}

}  // namespace hai
