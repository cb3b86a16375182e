#include "cli/slurm/step/task_runner.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/slurm/step/task_environment.h"

namespace hai::cli::slurm {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.data()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void give_up(const char* what) {
  const int error = errno;
  const std::string line = fmt::format("hai-slurm: error: {}: {}\n", what, std::strerror(error));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(error == ENOENT ? 127 : 126);
}

bool make_pipe(Fd& reader, Fd& writer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  reader = Fd(ends[0]);
  writer = Fd(ends[1]);
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

bool never_blocks(int fd) {
  return ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

// In the child, whose standard streams are set.
[[noreturn]] void become(pid_t parent, const std::vector<std::string>& command,
                         const std::string& directory, std::vector<char*>& variables) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (!directory.empty() && ::chdir(directory.c_str()) != 0) give_up(directory.c_str());
  ::environ = variables.data();  // execvp looks into its PATH
  const std::vector<char*> words = pointers(command);
  ::execvp(words[0], words.data());
  give_up(words[0]);
}

winsize window_of(long rows, long columns) {
  const auto side = [](long cells) {
    return static_cast<unsigned short>(std::clamp(cells, 0L, 10'000L));
  };
  return {.ws_row = side(rows), .ws_col = side(columns), .ws_xpixel = 0, .ws_ypixel = 0};
}

// Typed beyond it is lost, as a terminal loses it: its program does not read.
constexpr size_t kTypedBytesMax = 1u << 20;

}  // namespace

Result<pid_t> start_process(const std::vector<std::string>& command, const std::string& directory,
                            const std::vector<std::string>& environment, int out, int error) {
  std::vector<char*> variables = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return resource_exhausted("cannot start a process: {}", std::strerror(errno));
  if (child > 0) {
    // Here, too: who kills the group now must find it, though the child may not have run yet. A
    // step that was to end so early went on for ever.
    ::setpgid(child, child);
    return child;
  }
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out < 0 ? nothing : out, STDOUT_FILENO);
  ::dup2(error < 0 ? nothing : error, STDERR_FILENO);
  become(parent, command, directory, variables);
}

Result<pid_t> start_on_terminal(const std::vector<std::string>& command,
                                const std::string& directory,
                                const std::vector<std::string>& environment,
                                const StepTerminal& terminal, Fd& master) {
  std::vector<char*> variables = pointers(environment);
  const pid_t parent = ::getpid();
  const winsize window = window_of(terminal.rows, terminal.columns);
  int side = -1;
  const pid_t child = ::forkpty(&side, nullptr, nullptr, &window);
  if (child < 0) return resource_exhausted("cannot make a terminal: {}", std::strerror(errno));
  if (child == 0) become(parent, command, directory, variables);
  master = Fd(side);
  if (!never_blocks(side)) {
    ::kill(child, SIGKILL);
    return internal("a terminal cannot be used: {}", std::strerror(errno));
  }
  return child;
}

int exit_code_of_wait(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string encode_task_end(const TaskEnd& end) {
  return fmt::format("{} {} {}", end.code, end.used.cpu_time / 1us, end.used.peak_memory_bytes);
}

TaskEnd decode_task_end(const std::string& body) {
  char* rest = nullptr;
  TaskEnd end = {.code = static_cast<int>(std::strtol(body.c_str(), &rest, 10))};
  end.used.cpu_time = std::strtoll(rest, &rest, 10) * Duration(1us);
  end.used.peak_memory_bytes = std::strtoll(rest, &rest, 10);
  return end;
}

EndedChild take_ended_child() {
  EndedChild child;
  rusage used{};
  child.pid = std::max(0, ::wait4(-1, &child.status, WNOHANG, &used));
  const auto time = [](const timeval& value) { return value.tv_sec * 1s + value.tv_usec * 1us; };
  child.used = {.cpu_time = time(used.ru_utime) + time(used.ru_stime),
                .peak_memory_bytes = int64_t{1'024} * used.ru_maxrss};
  return child;
}

TaskRunner::TaskRunner(EnvironmentMap rank, std::function<void(const Frame&)> emit)
    : rank_(std::move(rank)),
      emit_(std::move(emit)),
      mpi_(rank_, emit_, [this](auto step, const auto& launch, const auto& variables) {
        start_tasks(step, launch, variables);
      }) {}

Status TaskRunner::start_task(Task& task, const StepLaunch& launch, int local,
                              const std::vector<std::string>& variables) {
  EnvironmentMap own = task_environment(launch, task.step, local, rank_);
  for (const auto& [name, value] : map_of(variables)) own[name] = value;
  const auto environment = texts_of(own);
  Result<pid_t> pid = pid_t{0};
  if (launch.terminal.is_wanted != 0) {
    pid = start_on_terminal(launch.command, launch.directory, environment, launch.terminal,
                            task.terminal);
  } else {
    Fd output;
    Fd error;
    if (!make_pipe(task.output, output) || !make_pipe(task.error, error)) {
      return resource_exhausted("cannot make a pipe: {}", std::strerror(errno));
    }
    pid = start_process(launch.command, launch.directory, environment, output.get(), error.get());
  }
  if (pid.is_ok()) task.pid = pid.value();
  return pid.status();
}

void TaskRunner::start(uint32_t step, const StepLaunch& launch) {
  if (launch.mpi_space.empty()) {
    start_tasks(step, launch, TaskVariables(static_cast<size_t>(launch.node_tasks)));
  } else {
    mpi_.start(step, launch);
  }
}

void TaskRunner::start_tasks(uint32_t step, const StepLaunch& launch,
                             const TaskVariables& variables) {
  for (int local = 0; local < launch.node_tasks; ++local) {
    Task task;
    task.step = step;
    task.number = static_cast<uint32_t>(launch.first_task + local);
    const Status status = start_task(task, launch, local, variables[static_cast<size_t>(local)]);
    if (status.is_ok()) {
      tasks_.push_back(std::move(task));
      continue;
    }
    emit_({FrameKind::error_output, step, task.number, fmt::format("{}\n", status.message())});
    emit_({FrameKind::task_ended, step, task.number, "126"});
  }
}

void TaskRunner::add_polls(std::vector<pollfd>& polls) const {
  mpi_.add_polls(polls);
  for (const Task& task : tasks_) {
    if (task.output.get() >= 0) polls.push_back({task.output.get(), POLLIN, 0});
    if (task.error.get() >= 0) polls.push_back({task.error.get(), POLLIN, 0});
    if (task.terminal.get() < 0) continue;
    const short output = task.typed.empty() ? 0 : POLLOUT;
    polls.push_back({task.terminal.get(), static_cast<short>(POLLIN | output), 0});
  }
}

// One piece; false when there is nothing more now.
bool TaskRunner::pass_on(const Task& task, FrameKind kind, Fd& from) {
  char buffer[65'536];
  if (from.get() < 0) return false;
  const ssize_t count = ::read(from.get(), buffer, sizeof buffer);
  if (count > 0) {
    emit_({kind, task.step, task.number, std::string(buffer, static_cast<size_t>(count))});
    return true;
  }
  if (count < 0 && errno == EINTR) return true;
  if (count == 0 || errno != EAGAIN) from.close();
  return false;
}

void TaskRunner::on_ready(int fd) {
  mpi_.on_ready(fd);
  for (Task& task : tasks_) {
    if (task.output.get() == fd) pass_on(task, FrameKind::output, task.output);
    if (task.error.get() == fd) pass_on(task, FrameKind::error_output, task.error);
    if (task.terminal.get() != fd) continue;
    flush_typed(task);
    pass_on(task, FrameKind::output, task.terminal);
  }
}

void TaskRunner::drain(Task& task) {
  // A child of its own that goes on writing must not hold us for ever.
  int pieces = 1'024;
  while (pieces-- > 0 && pass_on(task, FrameKind::output, task.output)) continue;
  while (pieces-- > 0 && pass_on(task, FrameKind::error_output, task.error)) continue;
  while (pieces-- > 0 && pass_on(task, FrameKind::output, task.terminal)) continue;
}

bool TaskRunner::on_exit(const EndedChild& child) {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const Task& task) { return task.pid == child.pid; });
  if (found == tasks_.end()) return mpi_.on_exit(child.pid, child.status);
  drain(*found);
  const uint32_t step = found->step;
  emit_({FrameKind::task_ended, step, found->number,
         encode_task_end({.code = exit_code_of_wait(child.status), .used = child.used})});
  tasks_.erase(found);
  if (std::none_of(tasks_.begin(), tasks_.end(),
                   [&](const Task& task) { return task.step == step; })) {
    mpi_.end(step);
  }
  return true;
}

void TaskRunner::signal(int number) {
  for (const Task& task : tasks_) ::kill(-task.pid, number);
}

void TaskRunner::signal(uint32_t step, int number) {
  for (const Task& task : tasks_) {
    if (task.step == step) ::kill(-task.pid, number);
  }
}

void TaskRunner::type(uint32_t step, std::string_view bytes) {
  for (Task& task : tasks_) {
    if (task.step != step || task.terminal.get() < 0) continue;
    task.typed += bytes.substr(0, kTypedBytesMax - std::min(kTypedBytesMax, task.typed.size()));
    flush_typed(task);
  }
}

void TaskRunner::flush_typed(Task& task) {
  if (task.typed.empty()) return;
  const ssize_t count = ::write(task.terminal.get(), task.typed.data(), task.typed.size());
  if (count > 0) task.typed.erase(0, static_cast<size_t>(count));
}

void TaskRunner::resize(uint32_t step, std::string_view size) {
  const std::string text(size);
  char* end = nullptr;
  const long rows = std::strtol(text.c_str(), &end, 10);
  const long columns = std::strtol(end, nullptr, 10);
  const winsize window = window_of(rows, columns);
  for (const Task& task : tasks_) {
    if (task.step == step && task.terminal.get() >= 0)
      ::ioctl(task.terminal.get(), TIOCSWINSZ, &window);
  }
}

void TaskRunner::kill(uint32_t step) {
  signal(step, SIGKILL);
  const std::optional<StepLaunch> waiting = mpi_.give_up(step);
  for (int local = 0; waiting && local < waiting->node_tasks; ++local) {
    emit_({FrameKind::task_ended, step, static_cast<uint32_t>(waiting->first_task + local),
           std::to_string(128 + SIGKILL)});
  }
}

void TaskRunner::kill_all() { signal(SIGKILL); }

}  // namespace hai::cli::slurm
