#include "cli/dev/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "cli/file.h"
#include "cli/patience.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

constexpr int64_t kLogBytesMax = 64 << 20;
constexpr Duration kProcessPollPause = 10ms;

struct Stat {
  ProcessId process;
  pid_t parent = 0;
  char state = '?';
  int threads = 0;
};

// /proc/PID/stat; the command in it may hold blanks and parentheses, so fields count from the last
// ")".
std::optional<Stat> read_stat(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const size_t close = line.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(close + 1));
  Stat stat;
  stat.process.pid = pid;
  std::string skipped;
  fields >> stat.state >> stat.parent;
  for (int field = 5; field < 20; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.process.start_time;
  if (!fields) return std::nullopt;
  return stat;
}

// One whose first thread has ended, and others not yet, still holds its files, locks and ports.
bool is_gone(const Stat& stat) {
  return stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1);
}

// In the child: becomes `user`. False if that is not possible.
bool become(const passwd& user) {
  return initgroups(user.pw_name, user.pw_gid) == 0 && setgid(user.pw_gid) == 0 &&
         setuid(user.pw_uid) == 0;
}

// A log that grew for weeks must not fill the disk: one old one is kept.
void rotate(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && info.st_size > kLogBytesMax) {
    rename(path.c_str(), (path + ".1").c_str());
  }
}

// In the child, after fork: only calls that are safe there, and none that returns.
[[noreturn]] void become_program(const Program& program, char* const* words, const passwd* user,
                                 int log, bool own_session) {
  if (own_session) setsid();
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGINT, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  if (user != nullptr && !become(*user)) _exit(126);
  if (chdir(program.directory.c_str()) != 0) _exit(126);
  execv(words[0], words);
  _exit(127);
}

Result<pid_t> start(const Program& program, bool own_session) {
  const passwd* user = nullptr;
  if (!program.user.empty()) {
    user = getpwnam(program.user.c_str());
    if (user == nullptr) return failed_precondition("there is no user {}", program.user);
  }
  rotate(program.log_file);
  const int log = open(program.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return failed_precondition("{}: {}", program.log_file, std::strerror(errno));
  std::vector<std::string> copies = program.words;
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) become_program(program, words.data(), user, log, own_session);
  const int error = errno;
  close(log);
  if (child < 0) return internal("fork: {}", std::strerror(error));
  return child;
}

}  // namespace

std::optional<ProcessId> find_process(pid_t pid) {
  const std::optional<Stat> stat = read_stat(pid);
  if (!stat || is_gone(*stat)) return std::nullopt;
  return stat->process;
}

bool is_alive(const ProcessId& process) {
  waitpid(process.pid, nullptr, WNOHANG);  // if it is our own child: no zombie stays
  return process.pid > 0 && find_process(process.pid) == process;
}

Result<ProcessId> start_daemon(const Program& program) {
  const Result<pid_t> child = start(program, /*own_session=*/true);
  RETURN_IF_ERROR(child.status());
  const std::optional<Stat> stat = read_stat(child.value());
  if (!stat) return internal("{} ended at once; see {}", program.words[0], program.log_file);
  return stat->process;
}

Status run_program(const Program& program) {
  const Result<pid_t> child = start(program, /*own_session=*/false);
  RETURN_IF_ERROR(child.status());
  int how = 0;
  while (waitpid(child.value(), &how, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return ok();
  return internal("{} failed ({}):\n{}", program.words[0],
                  WIFEXITED(how) ? fmt::format("exit code {}", WEXITSTATUS(how))
                                 : fmt::format("signal {}", WTERMSIG(how)),
                  tail_of(program.log_file, 10));
}

bool can_enter(const std::string& directory, const std::string& user) {
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) return false;
  const pid_t child = fork();
  if (child == 0) _exit(become(*entry) && access(directory.c_str(), X_OK) == 0 ? 0 : 1);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

Status write_pid_file(const std::string& path, const ProcessId& process) {
  return write_file(path, fmt::format("{} {}\n", process.pid, process.start_time), 0644);
}

std::optional<ProcessId> read_pid_file(const std::string& path) {
  std::ifstream in(path);
  ProcessId process;
  if (!(in >> process.pid >> process.start_time) || !is_alive(process)) return std::nullopt;
  return process;
}

std::vector<ProcessId> descendants(const ProcessId& process) {
  std::multimap<pid_t, ProcessId> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    const std::optional<pid_t> pid = whole_number<pid_t>(name);
    if (!pid) continue;
    const std::optional<Stat> stat = read_stat(*pid);
    if (stat && !is_gone(*stat)) children.emplace(stat->parent, stat->process);
  }
  std::vector<ProcessId> found;
  std::vector<pid_t> parents = {process.pid};
  for (size_t i = 0; i < parents.size(); ++i) {
    const auto [first, last] = children.equal_range(parents[i]);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second.pid);
    }
  }
  return found;
}

void kill_processes(const std::vector<ProcessId>& processes) {
  for (const ProcessId& process : processes) {
    if (is_alive(process)) kill(process.pid, SIGKILL);
  }
}

void stop_processes(const std::vector<ProcessId>& processes, Duration grace) {
  for (const ProcessId& process : processes) {
    if (is_alive(process)) kill(process.pid, SIGTERM);
  }
  if (!wait_until_gone(processes, grace)) kill_processes(processes);
}

bool wait_until_gone(const std::vector<ProcessId>& processes, Duration limit) {
  const MonoTime end = mono_now() + limit;
  for (;;) {
    if (std::none_of(processes.begin(), processes.end(), is_alive)) return true;
    if (mono_now() >= end) return false;
    std::this_thread::sleep_for(kProcessPollPause);
  }
}

std::string tail_of(const std::string& path, int lines) {
  std::ifstream in(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) {
    all.push_back("    " + line);
    if (all.size() > static_cast<size_t>(lines)) all.erase(all.begin());
  }
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

}  // namespace hai::cli
