#include "agent/os/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace hai {

namespace {

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return internal("cannot write {}: {}", path, errno_text(errno));
    content.remove_prefix(static_cast<size_t>(written));
  }
  return ok();
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) {
    if (errno == ENOENT) return not_found("no file {}", path);
    return internal("cannot open {}: {}", path, errno_text(errno));
  }
  std::string content;
  char buffer[16 * 1024];
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return internal("cannot read {}: {}", path, errno_text(errno));
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > max_bytes) {
      return resource_exhausted("{} is longer than {} bytes", path, max_bytes);
    }
  }
}

Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode,
                         Durability durability) {
  const std::string temporary = path + ".tmp";
  const bool sync = durability == Durability::survives_crash_of_machine;
  {
    const UniqueFd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd.is_open()) return internal("cannot create {}: {}", temporary, errno_text(errno));
    RETURN_IF_ERROR(write_all(fd.get(), content, temporary));
    if (sync && ::fdatasync(fd.get()) != 0) {
      return internal("cannot sync {}: {}", temporary, errno_text(errno));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return internal("cannot rename {} to {}: {}", temporary, path, errno_text(errno));
  }
  if (sync) {
    const std::string directory = path.substr(0, path.find_last_of('/') + 1);
    const UniqueFd fd(
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.is_open()) ::fsync(fd.get());
  }
  return ok();
}

void sync_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.is_open()) ::fdatasync(fd.get());
}

Result<UniqueFd> lock_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return internal("cannot open {}: {}", path, errno_text(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return failed_precondition("{} is locked by another process", path);
    return internal("cannot lock {}: {}", path, errno_text(errno));
  }
  return fd;
}

}  // namespace hai
