#include "agent/login/root_owned.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/unique_fd.h"

namespace hai {

namespace {

namespace fs = std::filesystem;

// What is in a sticky directory, as /tmp, is moved away by its owner only.
enum class Sticky { is_not_enough, is_enough };

Status check(const std::string& path, mode_t kind, Sticky sticky) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return not_found("there is no {}", path);
    return failed_precondition("cannot look at {}: {}", path, errno_text(errno));
  }
  if ((found.st_mode & S_IFMT) != kind) {
    return failed_precondition("{} is no {}", path, kind == S_IFDIR ? "directory" : "plain file");
  }
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
    return failed_precondition(
        "{} belongs to user id {} and not to root, as whom hai-agent must run for hai-pam", path,
        found.st_uid);
  }
  const bool others_write = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_kept = sticky == Sticky::is_enough && (found.st_mode & S_ISVTX) != 0;
  if (others_write && !is_kept) {
    return failed_precondition("others than root may write to {}: chmod go-w {}", path, path);
  }
  return ok();
}

}  // namespace

Status check_root_owned_directory(const std::string& path) {
  return check(path, S_IFDIR, Sticky::is_not_enough);
}

Status check_root_owned_file(const std::string& path) {
  return check(path, S_IFREG, Sticky::is_not_enough);
}

Result<std::string> resolve_root_owned(const std::string& directory) {
  std::error_code error;
  const fs::path path = fs::canonical(directory, error);
  if (error == std::errc::no_such_file_or_directory) return not_found("there is no {}", directory);
  if (error) return failed_precondition("cannot look at {}: {}", directory, error.message());
  fs::path above;
  for (const fs::path& name : path) {
    above /= name;
    RETURN_IF_ERROR(
        check(above.string(), S_IFDIR, above == path ? Sticky::is_not_enough : Sticky::is_enough));
  }
  return path.string();
}

}  // namespace hai
