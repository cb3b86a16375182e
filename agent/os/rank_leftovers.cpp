#include "agent/os/rank_leftovers.h"

#include <fcntl.h>
#include <signal.h>

#include <set>

#include "agent/os/cgroup.h"
#include "agent/os/process_table.h"
#include "common/unique_fd.h"

namespace hai {
namespace {

// Who can open nothing sees nobody, and must not take that for nobody's being there.
bool can_look() { return UniqueFd(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC)).is_open(); }

}  // namespace

bool kill_leftovers(const RankTraces& traces) {
  if (!can_look()) return false;
  kill_cgroups(traces.cgroups);
  std::set<pid_t> pids;
  for (const pid_t pid : cgroup_processes(traces.cgroups)) pids.insert(pid);
  if (!traces.job_socket.empty()) {
    for (const pid_t pid : processes_with_environment("HAI_SOCKET=" + traces.job_socket))
      pids.insert(pid);
  }
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  return pids.empty() && can_look();
}

}  // namespace hai
