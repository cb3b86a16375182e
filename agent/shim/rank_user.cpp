#include "agent/shim/rank_user.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "agent/os/cgroup.h"
#include "agent/shim/private_mounts.h"
#include "agent/shim/privileges.h"

namespace hai {
namespace {

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;

// Who may make no namespace gives ranks no mounts of their own either.
bool hide_processes() {
  if (::unshare(CLONE_NEWNS) != 0) return errno == EPERM;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/dev/shm", "tmpfs", kPlain, "mode=755") == 0 && hide_services() &&
         ::mount("proc", "/proc", "proc", kPlain, "hidepid=invisible") == 0;
}

// Not the rank's own programs, if its share of the memory is used up.
bool be_first_out_of_memory() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = ::write(file, "1000", 4) == 4;
  ::close(file);
  return is_written;
}

}  // namespace

bool become_rank_user(const RankUser& user, const CallFilter& calls) {
  if (::geteuid() != 0) return true;
  return be_first_out_of_memory() && move_into_cgroups(::getpid(), user.cgroups).is_ok() &&
         hide_processes() && empty_bounding_set() &&
         ::setgroups(user.groups.size(), user.groups.data()) == 0 &&
         ::setresgid(user.gid, user.gid, user.gid) == 0 &&
         ::setresuid(user.uid, user.uid, user.uid) == 0 && drop_capabilities() &&
         forbid_new_privileges() && calls.apply();
}

}  // namespace hai
