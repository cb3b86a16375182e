#include "agent/os/shim_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "agent/os/files.h"
#include "agent/os/helper_program.h"
#include "agent/os/process_table.h"
#include "common/machine/spawn.h"

namespace hai {

namespace {

constexpr int kControlBacklog = 16;
constexpr size_t kLockFileBytesMax = 256;
constexpr size_t kShimLogBytesMax = 64 << 10;

Result<UniqueFd> make_control_socket(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return internal("socket path {} is too long", path);
  path.copy(address.sun_path, path.size());
  ::unlink(path.c_str());
  // Nobody can connect before the listen(), so there is no moment in which the mode is too wide.
  if (!fd.is_open() ||
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(fd.get(), kControlBacklog) != 0) {
    return internal("cannot make socket {}: {}", path, errno_text(errno));
  }
  return fd;
}

}  // namespace

Result<pid_t> start_shim(const std::string& shim_path, const RankDirectory& directory,
                         const std::string& control_path) {
  Result<UniqueFd> lock = lock_file(directory.lock_file());
  if (!lock.is_ok()) return lock.status();
  Result<UniqueFd> control = make_control_socket(control_path);
  if (!control.is_ok()) return control.status();
  Spawn shim;
  shim.open("/dev/null", O_RDONLY, STDIN_FILENO);
  shim.open(directory.shim_log(), O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  shim.share(STDOUT_FILENO, STDERR_FILENO);
  shim.give(lock.value().get(), kShimLockFd);
  shim.give(control.value().get(), kShimControlFd);
  return shim.run({shim_path, "--dir", directory.path});
}

bool is_shim_alive(const RankDirectory& directory) {
  const UniqueFd fd(::open(directory.lock_file().c_str(), O_RDONLY | O_CLOEXEC));
  // Who can open nothing for want of descriptors or memory knows nothing, and asks again.
  if (!fd.is_open()) return errno != ENOENT && errno != ENOTDIR;
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

pid_t shim_pid(const RankDirectory& directory) {
  const Result<std::string> text = read_file(directory.lock_file(), kLockFileBytesMax);
  if (!text.is_ok()) return 0;
  std::istringstream words(text.value());
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  words >> pid >> start_ticks;
  if (words.fail() || pid <= 0) return 0;
  return process_start_ticks(pid) == start_ticks && is_process_alive(pid) ? pid : 0;
}

void kill_shim(const RankDirectory& directory) {
  const pid_t pid = shim_pid(directory);
  if (pid > 0) ::kill(pid, SIGKILL);
}

std::string shim_complaint(const RankDirectory& directory) {
  Result<std::string> text = read_file(directory.shim_log(), kShimLogBytesMax);
  if (!text.is_ok()) return "";
  std::string last;
  std::istringstream lines(text.value());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string default_shim_path() { return helper_program("hai-shim"); }
std::string default_validator_path() { return helper_program("hai-validator"); }

}  // namespace hai
