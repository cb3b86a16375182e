#include "agent/hang/proc_stacks.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "agent/health/file_values.h"
#include "common/whole_number.h"

namespace hai {

namespace {

constexpr size_t kThreadsMax = 64;
constexpr size_t kStackLinesMax = 24;

// "Name:\tpython3\nState:\tS (sleeping)\n…": the words after `field`.
std::string status_field(const std::string& status, const std::string& field) {
  const size_t at = ("\n" + status).find("\n" + field + ":");
  if (at == std::string::npos) return {};
  const size_t start = at + field.size() + 1;
  return std::string(
      trimmed(std::string_view(status).substr(start, status.find('\n', start) - start)));
}

std::string waits_in(const std::string& folder) {
  const std::string function = read_text(folder + "/wchan").value_or("");
  return function == "0" ? "" : function;
}

bool is_python(const std::string& proc_root, pid_t pid, const std::string& name) {
  std::error_code error;
  const auto program =
      std::filesystem::read_symlink(fmt::format("{}/{}/exe", proc_root, pid), error);
  return name.starts_with("python") || program.filename().string().starts_with("python");
}

std::string first_lines(const std::string& text, size_t count) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; count > 0 && std::getline(lines, line); --count)
    result += "    " + line + "\n";
  return result;
}

}  // namespace

std::optional<ProcessBrief> read_brief(const std::string& proc_root, pid_t pid) {
  const std::string folder = fmt::format("{}/{}", proc_root, pid);
  const std::optional<std::string> status = read_text(folder + "/status");
  if (!status) return std::nullopt;
  ProcessBrief brief{.pid = pid, .name = status_field(*status, "Name")};
  brief.parent = static_cast<pid_t>(whole_number(status_field(*status, "PPid")).value_or(0));
  const std::string state = status_field(*status, "State");
  if (!state.empty()) brief.state = state[0];
  brief.threads = static_cast<int>(whole_number(status_field(*status, "Threads")).value_or(0));
  brief.waits_in = waits_in(folder);
  std::istringstream(status_field(*status, "Uid")) >> brief.user.uid;
  std::istringstream(status_field(*status, "Gid")) >> brief.user.gid;
  brief.is_python = is_python(proc_root, pid, brief.name);
  return brief;
}

// " python3: S (sleeping), waits in futex_wait, system call 202", and its stack.
static std::string place_of_thread(const std::string& folder) {
  const std::string status = read_text(folder + "/status").value_or("");
  std::string text =
      fmt::format(" {}: {}", status_field(status, "Name"), status_field(status, "State"));
  if (const std::string function = waits_in(folder); !function.empty())
    text += ", waits in " + function;
  if (const auto call = read_text(folder + "/syscall"))
    text += ", system call " + call->substr(0, call->find(' '));
  text += "\n";
  // Only root may.
  if (const auto stack = read_text(folder + "/stack")) text += first_lines(*stack, kStackLinesMax);
  return text;
}

std::string read_kernel_stacks(const std::string& proc_root, pid_t pid) {
  const std::string tasks = fmt::format("{}/{}/task", proc_root, pid);
  const std::vector<std::string> threads = list_folder(tasks, 4096);
  // Most threads of a pool stand where the others do: said once.
  std::vector<std::pair<std::string, std::vector<std::string>>> places;
  for (size_t i = 0; i < threads.size() && i < kThreadsMax; ++i) {
    const std::string place = place_of_thread(tasks + "/" + threads[i]);
    auto same = std::ranges::find(places, place, [](const auto& each) { return each.first; });
    if (same == places.end()) same = places.insert(same, {place, {}});
    same->second.push_back(threads[i]);
  }
  std::string text;
  for (const auto& [place, there] : places) {
    text += fmt::format("  {} {}{}", there.size() == 1 ? "thread" : "threads",
                        fmt::join(there, ", "), place);
  }
  if (threads.size() > kThreadsMax)
    text += fmt::format("  and {} more threads\n", threads.size() - kThreadsMax);
  return text;
}

}  // namespace hai
