#include "cli/dev/node_processes.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/patience.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kFreezeRoundsMax = 10;

std::vector<ProcessId> find_shims(const std::string& directory) {
  std::vector<ProcessId> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory + "/ranks", error)) {
    if (const auto shim = read_pid_file((entry.path() / "lock").string())) found.push_back(*shim);
  }
  return found;
}

// Processes whose environment says that they log below `directory`, as that of every rank does.
std::vector<ProcessId> find_by_environment(const std::string& directory) {
  const std::string wanted = "HAI_LOG_DIR=" + directory + "/";
  std::vector<ProcessId> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    const std::optional<pid_t> pid = whole_number<pid_t>(name);
    if (!pid) continue;
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    const std::string environment(std::istreambuf_iterator<char>(in), {});
    const size_t at = environment.find(wanted);
    if (at == std::string::npos || (at > 0 && environment[at - 1] != '\0')) continue;
    if (const auto process = find_process(*pid)) found.push_back(*process);
  }
  return found;
}

}  // namespace

std::vector<ProcessId> find_node_processes(const std::string& directory,
                                           const std::optional<ProcessId>& agent) {
  std::vector<ProcessId> roots = find_shims(directory);
  const std::vector<ProcessId> orphans = find_by_environment(directory);
  roots.insert(roots.end(), orphans.begin(), orphans.end());
  if (agent && is_alive(*agent)) roots.push_back(*agent);
  std::set<ProcessId> all(roots.begin(), roots.end());
  for (const ProcessId& root : roots) {
    const std::vector<ProcessId> below = descendants(root);
    all.insert(below.begin(), below.end());
  }
  return {all.begin(), all.end()};
}

bool kill_node_processes(const std::string& directory, const std::optional<ProcessId>& agent,
                         Duration limit) {
  const MonoTime end = mono_now() + limit;
  for (;;) {
    std::set<ProcessId> frozen;
    for (int round = 0; round < kFreezeRoundsMax; ++round) {
      const std::vector<ProcessId> found = find_node_processes(directory, agent);
      const size_t before = frozen.size();
      for (const ProcessId& process : found) {
        if (frozen.insert(process).second && is_alive(process)) kill(process.pid, SIGSTOP);
      }
      if (frozen.size() == before) break;  // nobody new: nobody is left who could fork
    }
    if (frozen.empty()) return true;
    const std::vector<ProcessId> all(frozen.begin(), frozen.end());
    kill_processes(all);
    wait_until_gone(all, 1s);
    if (mono_now() > end) return false;
  }
}

}  // namespace hai::cli
