#include "agent/shim/process_tree.h"

#include <signal.h>
#include <unistd.h>

#include <set>

#include "agent/os/cgroup.h"
#include "agent/os/process_table.h"

namespace hai {

namespace {

constexpr int kPassesMax = 8;

std::vector<pid_t> tree_processes(const std::vector<std::string>& cgroups) {
  std::vector<pid_t> pids = descendants_of(::getpid());
  for (const pid_t pid : cgroup_processes(cgroups)) pids.push_back(pid);
  return pids;
}

}  // namespace

void terminate_tree(const std::vector<std::string>& cgroups) {
  const std::vector<pid_t> pids = tree_processes(cgroups);
  for (const pid_t pid : pids) ::kill(pid, SIGTERM);
  for (const pid_t pid : pids) ::kill(pid, SIGCONT);  // A stopped process can't handle anything.
}

void kill_tree(const std::vector<std::string>& cgroups) {
  kill_cgroups(cgroups);
  std::set<pid_t> killed;
  bool found_new = true;
  for (int pass = 0; pass < kPassesMax && found_new; ++pass) {
    found_new = false;
    for (const pid_t pid : tree_processes(cgroups)) {
      if (!killed.insert(pid).second) continue;
      ::kill(pid, SIGKILL);
      found_new = true;
    }
  }
}

}  // namespace hai
