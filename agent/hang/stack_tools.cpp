#include "agent/hang/stack_tools.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "agent/health/file_values.h"
#include "agent/os/launch_file.h"
#include "agent/shim/rank_user.h"

namespace hai {

namespace {

constexpr int kNotConfined = 126;

std::string find_program(const std::string& path, const std::string& name) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// As the user of the process if we are root, and as one more program of its rank: he may take over
// what looks into his processes. Else as ourselves, and the kernel decides.
ChildOutput run_for(const ProcessBrief& process, const std::vector<std::string>& words,
                    const StackTools& tools, const ChildLimits& limits) {
  if (::geteuid() != 0 || process.user.uid == 0) return run_command(words, limits);
  const Result<CallFilter> calls = CallFilter::make({});
  const RankUser user{process.user.uid, process.user.gid, {}, tools.cgroups};
  return run_in_child(
      [&](int) {
        ::clearenv();
        ::setenv("PATH", kDefaultPath, 1);
        if (!calls.is_ok() || !become_rank_user(user, calls.value())) {
          fmt::print(stderr, "cannot be confined as the rank is: {}\n", errno_text(errno));
          std::fflush(stderr);
          ::_exit(kNotConfined);
        }
        execute(words);
      },
      limits);
}

// A tool that was killed while it looked may leave the process stopped. One that was stopped before
// stays so.
void let_go_on(const ProcessBrief& process) {
  const std::optional<ProcessBrief> now = read_brief("/proc", process.pid);
  const bool was_stopped = process.state == 'T' || process.state == 't';
  if (now && now->state == 'T' && !was_stopped) ::kill(process.pid, SIGCONT);
}

Stack run_tool(std::string tool, const std::vector<std::string>& words, const StackTools& tools,
               const ProcessBrief& process, const ChildLimits& limits) {
  const ChildOutput output = run_for(process, words, tools, limits);
  let_go_on(process);
  Stack stack{.tool = std::move(tool), .text = output.text};
  if (!stack.text.empty() && stack.text.back() != '\n') stack.text += '\n';
  if (output.is_late)
    stack.text += fmt::format("(gave up after {})\n", format_duration(limits.patience));
  if (output.is_truncated) stack.text += "(cut)\n";
  if (output.exit_code > 0) stack.text += fmt::format("(exit code {})\n", output.exit_code);
  return stack;
}

std::string line_after(const std::string& text, size_t at) {
  const size_t start = text.find('\n', at);
  if (start == std::string::npos) return {};
  const size_t end = text.find('\n', start + 1);
  return std::string(trimmed(std::string_view(text).substr(start + 1, end - start - 1)));
}

}  // namespace

StackTools find_stack_tools(const std::string& path) {
  return {.py_spy = find_program(path, "py-spy"), .gdb = find_program(path, "gdb")};
}

// Thread 7 (idle): "MainThread"
//     barrier (train.py:80)
std::string top_python_frame(const std::string& dump) {
  size_t at = dump.find("\"MainThread\"");
  if (at == std::string::npos) at = dump.find("\nThread ");
  if (at == std::string::npos) return {};
  return line_after(dump, dump[at] == '\n' ? at + 1 : at);
}

// Thread 1 (Thread 0x7f… (LWP 7) "python3"):
// #0  0x00007f… in __futex_abstimed_wait (…) at …
std::string top_native_frame(const std::string& backtraces) {
  const size_t at = backtraces.find("\nThread 1 ");
  if (at == std::string::npos) return {};
  const std::string frame = line_after(backtraces, at + 1);
  if (!frame.starts_with("#0")) return {};
  const size_t in = frame.find(" in ");
  const size_t start = in == std::string::npos ? frame.find_first_not_of(' ', 2) : in + 4;
  if (start == std::string::npos) return {};
  return frame.substr(start, frame.find(" (", start) - start);
}

std::optional<Stack> python_stack(const StackTools& tools, const ProcessBrief& process,
                                  const ChildLimits& limits) {
  if (tools.py_spy.empty() || !process.is_python) return std::nullopt;
  Stack stack = run_tool("py-spy", {tools.py_spy, "dump", "--pid", std::to_string(process.pid)},
                         tools, process, limits);
  stack.top_frame = top_python_frame(stack.text);
  return stack;
}

std::optional<Stack> native_stack(const StackTools& tools, const ProcessBrief& process,
                                  const ChildLimits& limits) {
  if (tools.gdb.empty()) return std::nullopt;
  const std::string pid = std::to_string(process.pid);
  // The main thread first: the rest may be cut. No file beside the program may make it run code,
  // and it asks no server for symbols. Files are the rank's: its mounts may be its own, which gdb
  // finds out by itself only as root.
  Stack stack =
      run_tool("gdb",
               {tools.gdb, "-nx", "-q", "-batch", "-iex", "set auto-load off", "-iex",
                "set debuginfod enabled off", "-iex", "set sysroot /proc/" + pid + "/root", "-ex",
                "set print frame-arguments none", "-ex", "thread apply all -ascending backtrace 48",
                "-p", pid},
               tools, process, limits);
  stack.top_frame = top_native_frame(stack.text);
  return stack;
}

}  // namespace hai
