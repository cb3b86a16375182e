#pragma once
// Stacks of a running process by the tools that the node has: py-spy for Python, gdb for native
// code. Both stop the process while they look, so both have a deadline, and a process that one of
// them left stopped is told to go on. They run as the user of the process, never as root: what they
// parse is his. And he may take them over, so they may do no more than the rank's own programs
// (agent/shim/rank_user.h).

#include <optional>
#include <string>
#include <vector>

#include "agent/hang/proc_stacks.h"
#include "common/machine/bounded_child.h"

namespace hai {

struct StackTools {
  std::string py_spy;  // "" = not there
  std::string gdb;
  std::vector<std::string> cgroups;  // of the rank: the tools run in them
};
StackTools find_stack_tools(const std::string& path);  // folders as in $PATH

struct Stack {
  std::string tool;
  std::string text;       // or why there is none
  std::string top_frame;  // where the main thread is; "" = could not be told
  bool operator==(const Stack&) const = default;
};

// None if the tool is not there, or the process is not of its kind.
std::optional<Stack> python_stack(const StackTools& tools, const ProcessBrief& process,
                                  const ChildLimits& limits);
std::optional<Stack> native_stack(const StackTools& tools, const ProcessBrief& process,
                                  const ChildLimits& limits);

// "barrier (train.py:80)" of py-spy's dump; "__futex_abstimed_wait" of gdb's.
std::string top_python_frame(const std::string& dump);
std::string top_native_frame(const std::string& backtraces);

}  // namespace hai
