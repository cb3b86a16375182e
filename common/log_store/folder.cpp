#include "common/log_store/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>

namespace hai {

namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// How many bytes were written, less than all on an error, which is in errno.
int64_t write_at(int fd, std::string_view content, int64_t offset) {
  int64_t done = 0;
  while (!content.empty()) {
    const ssize_t written = ::pwrite(fd, content.data(), content.size(), offset + done);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return done;
    done += written;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return done;
}

UnixTime changed_at_of(const struct stat& info) {
  return UnixTime(
      std::chrono::seconds(info.st_mtim.tv_sec) +
      std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(info.st_mtim.tv_nsec)));
}

}  // namespace

Status storage_error(std::string_view what, const std::string& path, int error) {
  if (error == ENOENT) return not_found("cannot {} {}: {}", what, path, errno_text(error));
  if (error == ENOSPC || error == EDQUOT) {
    return resource_exhausted("cannot {} {}: {}", what, path, errno_text(error));
  }
  return unavailable("cannot {} {}: {}", what, path, errno_text(error));
}

Result<Folder> Folder::open(const std::string& name) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), kFolderFlags));
  if (!fd.is_open()) return storage_error("open", at(name), errno);
  return Folder(std::move(fd), at(name));
}

Result<Folder> Folder::open_or_make(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return storage_error("make folder", at(name), errno);
  }
  return open(name);
}

Result<std::vector<std::string>> Folder::list() const {
  // A descriptor of its own: the place in the listing belongs to the open file.
  UniqueFd fd(::openat(fd_.get(), ".", kFolderFlags));
  if (!fd.is_open()) return storage_error("list", path_, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
  if (!stream) return storage_error("list", path_, errno);
  fd.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return storage_error("list", path_, errno);
  return names;
}

Result<FileFacts> Folder::facts(const std::string& name) const {
  struct stat info {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return storage_error("look at", at(name), errno);
  }
  if (!S_ISREG(info.st_mode)) return unavailable("{} is no file", at(name));
  return FileFacts{.bytes = info.st_size, .changed_at = changed_at_of(info)};
}

UnixTime Folder::changed_at() const {
  struct stat info {};
  return ::fstat(fd_.get(), &info) == 0 ? changed_at_of(info) : UnixTime{};
}

Result<UniqueFd> Folder::open_file(const std::string& name, int flags) const {
  // Not to be held by a pipe that somebody put there.
  UniqueFd fd(
      ::openat(fd_.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, kFileMode));
  if (!fd.is_open()) return storage_error("open", at(name), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return storage_error("look at", at(name), errno);
  if (!S_ISREG(info.st_mode)) return unavailable("{} is no file", at(name));
  return fd;
}

Result<std::string> Folder::read(const std::string& name, size_t bytes_max) const {
  const Result<UniqueFd> fd = open_file(name, O_RDONLY);
  if (!fd.is_ok()) return fd.status();
  std::string content;
  constexpr size_t kStep = 256 << 10;
  for (;;) {
    const size_t before = content.size();
    content.resize(before + kStep);
    const ssize_t got = ::read(fd.value().get(), content.data() + before, kStep);
    const int error = errno;
    content.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return storage_error("read", at(name), error);
    if (got == 0) return content;
    if (content.size() > bytes_max) {
      return resource_exhausted("{} is longer than {} bytes", at(name), bytes_max);
    }
  }
}

Status Folder::replace(const std::string& name, std::string_view content) const {
  const std::string temporary = name + ".tmp";
  {
    const Result<UniqueFd> fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!fd.is_ok()) return fd.status();
    const bool is_written =
        write_at(fd.value().get(), content, 0) == static_cast<int64_t>(content.size()) &&
        ::fdatasync(fd.value().get()) == 0;
    if (!is_written) return storage_error("write", at(temporary), errno);
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    return storage_error("rename", at(temporary), errno);
  }
  return ok();
}

Status Folder::append(const std::string& name, int64_t bytes_before,
                      std::string_view content) const {
  const Result<UniqueFd> fd = open_file(name, O_WRONLY | O_CREAT);
  if (!fd.is_ok()) return fd.status();
  struct stat info {};
  if (::fstat(fd.value().get(), &info) != 0) return storage_error("look at", at(name), errno);
  if (info.st_size != bytes_before) {
    return aborted("{} has {} bytes, not {}", at(name), static_cast<int64_t>(info.st_size),
                   bytes_before);
  }
  const bool is_written =
      write_at(fd.value().get(), content, bytes_before) == static_cast<int64_t>(content.size()) &&
      ::fdatasync(fd.value().get()) == 0;
  if (is_written) return ok();
  const int error = errno;
  static_cast<void>(::ftruncate(fd.value().get(), bytes_before) == 0);
  return storage_error("write", at(name), error);
}

Status Folder::cut(const std::string& name, int64_t bytes) const {
  const Result<UniqueFd> fd = open_file(name, O_WRONLY);
  if (!fd.is_ok()) return fd.status();
  if (::ftruncate(fd.value().get(), bytes) != 0) return storage_error("cut", at(name), errno);
  return ok();
}

Status Folder::remove(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return ok();
  return storage_error("delete", at(name), errno);
}

Result<bool> Folder::remove_folder(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  return storage_error("delete", at(name), errno);
}

}  // namespace hai
