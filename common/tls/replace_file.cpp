#include "common/tls/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace hai {
namespace {

Status write_synced(const std::string& path, const std::string& text, mode_t mode,
                    const std::string& owned_like) {
  ::unlink(path.c_str());  // of one that was cut off: its mode may be another
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return unavailable("cannot write {}: {}", path, std::strerror(errno));
  const bool done = ::fchmod(file, mode) == 0 && own_like(file, owned_like) &&
                    ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  return done ? ok() : unavailable("cannot write {}: {}", path, std::strerror(error));
}

void sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

bool own_like(int file, const std::string& path) {
  struct stat wanted {};
  struct stat is {};
  if (path.empty() || ::stat(path.c_str(), &wanted) != 0 || ::fstat(file, &is) != 0) return true;
  const bool is_own = wanted.st_uid == is.st_uid;
  if (is_own && wanted.st_gid == is.st_gid) return true;
  // To a group that is not one's own only root may give: its owner reads it without.
  return ::fchown(file, wanted.st_uid, wanted.st_gid) == 0 || is_own;
}

Status replace_file(const std::string& path, const std::string& text, mode_t mode,
                    const std::string& owned_like) {
  const std::string fresh = path + ".new";
  RETURN_IF_ERROR(write_synced(fresh, text, mode, owned_like));
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return unavailable("cannot replace {}: {}", path, std::strerror(error));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  sync_folder(folder.empty() ? "." : folder);
  return ok();
}

}  // namespace hai
