#include "agent/os/confinement.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>
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

// A path with .. is none of them: where the rank's folders are made, it may lead elsewhere.
std::vector<std::string> paths_to_keep(const std::vector<std::string>& paths) {
  std::set<std::string> hidden;
  for (const std::string& path : paths) {
    if (path.find("..") != std::string::npos) continue;
    std::string plain = std::filesystem::path(path).lexically_normal().string();
    if (plain.ends_with('/')) plain.pop_back();
    if (plain.starts_with("/tmp/") || plain.starts_with("/dev/shm/")) hidden.insert(plain);
  }
  std::vector<std::string> kept;
  for (const std::string& path : hidden) {
    // What is below another is in its mount already.
    const bool is_there = std::ranges::any_of(
        kept, [&](const std::string& folder) { return path.starts_with(folder + "/"); });
    if (!is_there) kept.push_back(path);
  }
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
  if (pid < 0) return false;
  int status = 0;
  while (::waitpid(pid, &status, 0) != pid) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hai
