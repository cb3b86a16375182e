#include "agent/shim/program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "agent/shim/cgroup_fork.h"
#include "agent/shim/privileges.h"
#include "agent/shim/program_setup.h"
#include "common/python_environment.h"

namespace hai {

namespace {

constexpr int kPipeBytes = 1 << 20;

// Everything the child needs, made before fork(): between fork and exec nothing may allocate.
struct ChildPlan {
  const LaunchFile& launch;
  const UserIdentity& user;
  const Confines& confines;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::string python;           // of the environment asked for, to be checked; "" = none is
  std::string entrypoint_path;  // to be checked; absolute
  bool may_be_in_path = false;  // the entrypoint may also be a program of the node
  bool is_executed_directly = false;
  const CgroupFork& groups;
  int output = -1;
  int failure = -1;
  pid_t shim = 0;
};

[[noreturn]] void fail(const ChildPlan& plan, LaunchStep step) {
  const LaunchFailure failure = {step, errno};
  static_cast<void>(!::write(plan.failure, &failure, sizeof failure));
  ::_exit(127);
}

void connect_output(const ChildPlan& plan) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(plan.output, STDOUT_FILENO) < 0 ||
      ::dup2(plan.output, STDERR_FILENO) < 0) {
    fail(plan, LaunchStep::output);
  }
  if (nothing > STDERR_FILENO) ::close(nothing);
}

void enter_mounts(const ChildPlan& plan) {
  if (plan.confines.mounts && !plan.confines.mounts->enter()) fail(plan, LaunchStep::mounts);
}

void become_user(const ChildPlan& plan) {
  const UserIdentity& user = plan.user;
  const bool is_confined = plan.confines.calls.has_value();
  if (is_confined && !empty_bounding_set()) fail(plan, LaunchStep::privileges);
  if (!become(user)) fail(plan, LaunchStep::user);
  if (is_confined && !drop_capabilities()) fail(plan, LaunchStep::privileges);
  // After setuid, which clears it. If the shim died before, nobody would ever tell us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.shim) ::_exit(127);
}

// From here on the child itself makes only calls that the filter lets through.
void filter_calls(const ChildPlan& plan) {
  if (!plan.confines.calls) return;
  if (!forbid_new_privileges() || !plan.confines.calls->apply()) fail(plan, LaunchStep::privileges);
}

void enter_workspace(const ChildPlan& plan) {
  if (::chdir(plan.launch.workspace.c_str()) != 0) fail(plan, LaunchStep::workspace);
}

void check_python(const ChildPlan& plan) {
  if (plan.python.empty()) return;
  if (::access(plan.python.c_str(), X_OK) != 0) fail(plan, LaunchStep::python);
}

// Returns what to execute.
const char* check_entrypoint(const ChildPlan& plan) {
  struct stat info {};
  if (::stat(plan.entrypoint_path.c_str(), &info) != 0) {
    if (errno == ENOENT && plan.may_be_in_path) return plan.argv[0];
    fail(plan, LaunchStep::entrypoint);
  }
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail(plan, LaunchStep::entrypoint);
  }
  const int needed = plan.is_executed_directly ? X_OK : R_OK;
  if (::access(plan.entrypoint_path.c_str(), needed) != 0) fail(plan, LaunchStep::permission);
  return plan.is_executed_directly ? plan.entrypoint_path.c_str() : plan.argv[0];
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  if (!plan.groups.join()) fail(plan, LaunchStep::cgroup);
  // Asio accepts connections without the flag. A program that held the agent's connection open hid
  // the death of its shim from the agent.
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (::setsid() < 0) fail(plan, LaunchStep::session);
  connect_output(plan);
  set_limits_of_programs(plan.launch.program.core_size);
  enter_mounts(plan);
  become_user(plan);
  filter_calls(plan);
  reset_signals();
  enter_workspace(plan);
  check_python(plan);
  const char* file = check_entrypoint(plan);
  ::environ = const_cast<char**>(plan.environment.data());  // execvp searches the PATH of environ
  ::execvp(file, plan.argv.data());
  fail(plan, LaunchStep::execute);
}

bool make_pipe(UniqueFd& reader, UniqueFd& writer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  reader = UniqueFd(ends[0]);
  writer = UniqueFd(ends[1]);
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

ProgramTexts make_program_texts(const LaunchFile& launch, const LaunchProcess& process,
                                const UserIdentity& user) {
  return {.environment = environment_texts(launch, process, user),
          .python = python_folder(process, user)};
}

Result<StartedProgram> start_program(const LaunchFile& launch, const LaunchProcess& process,
                                     ProgramTexts texts, const UserIdentity& user,
                                     const Confines& confines) {
  StartedProgram started;
  UniqueFd output;
  UniqueFd failure;
  if (!make_pipe(started.output, output) || !make_pipe(started.failure, failure)) {
    return resource_exhausted("cannot make a pipe for the program's output: {}", errno_text(errno));
  }
  ::fcntl(output.get(), F_SETPIPE_SZ,
          kPipeBytes);  // Best effort: bursts need not wait for the shim.

  std::vector<std::string> argv = process.argv;
  const bool absolute = launch.entrypoint.starts_with('/');
  CgroupFork groups(launch.cgroups);
  if (!groups.has_all()) return internal("cannot open the rank's control groups");
  ChildPlan plan = {
      .launch = launch,
      .user = user,
      .confines = confines,
      .argv = pointers(argv),
      .environment = pointers(texts.environment),
      .python = texts.python.empty() ? "" : texts.python + "/bin/python3",
      .entrypoint_path = absolute ? launch.entrypoint : launch.workspace + "/" + launch.entrypoint,
      .groups = groups,
      .output = output.get(),
      .failure = failure.get(),
      .shim = ::getpid()};
  plan.is_executed_directly = !argv.empty() && argv[0] == launch.entrypoint;
  plan.may_be_in_path =
      plan.is_executed_directly && launch.entrypoint.find('/') == std::string::npos;
  started.pid = groups.fork();
  if (started.pid == 0) run_child(plan);
  if (started.pid < 0) return resource_exhausted("cannot start a process: {}", errno_text(errno));
  return started;
}

// Where programs are looked for: PATH and absolute paths are those of the image.
static std::string in_image(const LaunchFile& launch) {
  return launch.image.empty() ? "" : " in image " + launch.image;
}

bool is_of_the_node(LaunchStep step) { return step < LaunchStep::user; }

std::string describe(const LaunchFailure& failure, const LaunchFile& launch,
                     const LaunchProcess& process) {
  const std::string why = errno_text(failure.error);
  const bool absent = failure.error == ENOENT || failure.error == ENOTDIR;
  switch (failure.step) {
    case LaunchStep::session:
    case LaunchStep::cgroup:
    case LaunchStep::output:
      return fmt::format("cannot prepare the program's process: {}", why);
    case LaunchStep::mounts:
      return fmt::format("cannot enter the rank's own mounts: {}", why);
    case LaunchStep::privileges:
      return fmt::format("cannot give up privileges: {}", why);
    case LaunchStep::user:
      return fmt::format("cannot become user {}: {}", launch.user, why);
    case LaunchStep::workspace:
      if (absent) return fmt::format("workspace {} does not exist on this node", launch.workspace);
      return fmt::format("user {} cannot enter workspace {}: {}", launch.user, launch.workspace,
                         why);
    case LaunchStep::python: {
      const auto asked = process.environment.find(kPythonEnvironment);
      return fmt::format("Python environment {}: its bin/python3 cannot be used on this node{}: {}",
                         asked == process.environment.end() ? "" : asked->second, in_image(launch),
                         why);
    }
    case LaunchStep::entrypoint:
      if (absent && launch.entrypoint.starts_with('/') && !launch.image.empty())
        return fmt::format("entrypoint {} does not exist{}", launch.entrypoint, in_image(launch));
      if (absent)
        return fmt::format("entrypoint {} does not exist in {}", launch.entrypoint,
                           launch.workspace);
      return fmt::format("entrypoint {} in {} cannot be used: {}", launch.entrypoint,
                         launch.workspace, why);
    case LaunchStep::permission:
      return fmt::format(
          "entrypoint {} in {} is not {} for user {}: {}", launch.entrypoint, launch.workspace,
          process.argv[0] == launch.entrypoint ? "executable" : "readable", launch.user, why);
    case LaunchStep::execute:
      if (absent && process.argv[0] == launch.entrypoint) {
        return fmt::format(
            "entrypoint {} is neither in {} nor in PATH, or its interpreter is missing{}",
            launch.entrypoint, launch.workspace, in_image(launch));
      }
      return fmt::format("cannot execute {}{}: {}", process.argv[0], in_image(launch), why);
  }
  return why;
}

}  // namespace hai
