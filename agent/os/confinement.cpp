#include "agent/os/confinement.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hai {

namespace {

constexpr std::array<std::pair<Isolation, std::string_view>, 3> kIsolations = {
    {{Isolation::none, "none"}, {Isolation::shared, "shared"}, {Isolation::strict, "strict"}}};

}  // namespace

std::string_view to_string(Isolation isolation) {
  for (const auto& [value, word] : kIsolations) {
    if (value == isolation) return word;
  }
  return "";
}

Result<Isolation> parse_isolation(std::string_view text) {
  for (const auto& [value, word] : kIsolations) {
    if (word == text) return value;
  }
  return invalid_argument("must be strict, shared or none, is {}", text);
}

std::vector<std::string> paths_to_keep(const std::vector<std::string>& paths) {
  std::vector<std::string> kept;
  for (const std::string& path : paths) {
    const bool is_hidden = path.starts_with("/tmp/") || path.starts_with("/dev/shm/");
    if (is_hidden && std::find(kept.begin(), kept.end(), path) == kept.end()) kept.push_back(path);
  }
  // What is below another comes after it: it must be mounted over it.
  std::sort(kept.begin(), kept.end());
  return kept;
}

void hide_from_own_user() {
  if (::geteuid() != 0) ::prctl(PR_SET_DUMPABLE, 0);
}

bool can_make_mounts() {
  if (::geteuid() != 0) return false;
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Kernels before 5.8 do not know the word, and would hide processes in everybody's /proc.
    const bool can = ::unshare(CLONE_NEWNS) == 0 &&
                     ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                     ::mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) == 0 &&
                     ::mount("proc", "/proc", "proc", 0, "hidepid=invisible") == 0;
    ::_exit(can ? 0 : 1);
  }
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace hai
