#include "agent/os/rank_leftovers.h"

#include <signal.h>

#include <set>

#include "agent/os/cgroup.h"
#include "agent/os/process_table.h"

namespace hai {

int kill_leftovers(const RankTraces& traces) {
  kill_cgroups(traces.cgroups);
  std::set<pid_t> pids;
  for (const pid_t pid : cgroup_processes(traces.cgroups)) pids.insert(pid);
  if (!traces.job_socket.empty()) {
    for (const pid_t pid : processes_with_environment("HAI_SOCKET=" + traces.job_socket))
      pids.insert(pid);
  }
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  return static_cast<int>(pids.size());
}

}  // namespace hai
