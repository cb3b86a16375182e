#include "server/store/archive_steps.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hai {

Status sync_folder(const std::string& dir) {
  const int descriptor = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return invalid_argument("{}: {}", dir, std::strerror(errno));
  const bool is_done = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return is_done ? ok() : unavailable("{}: can't be brought to disk", dir);
}

namespace {

Status move_aside(const std::string& path) {
  for (int number = 1;; ++number) {
    const std::string aside = fmt::format("{}.taken-back-{}", path, number);
    std::error_code error;
    if (std::filesystem::exists(aside, error)) continue;
    std::filesystem::rename(path, aside, error);
    return error ? unavailable("{}: {}", aside, error.message()) : ok();
  }
}

}  // namespace

Status ArchiveSteps::name_files(const std::vector<ArchivedFile>& files) const {
  for (const ArchivedFile& file : files) {
    std::error_code error;
    const std::string path = final_path(options_.dir, file);
    const std::string partial = partial_path(options_.dir, file);
    if (std::filesystem::exists(path, error)) {
      const Status same = check_file(path, file);
      if (same.is_ok()) continue;
      // A restored database has made other events of these numbers: what it took back stays beside.
      if (!check_file(partial, file).is_ok()) return same;
      RETURN_IF_ERROR(move_aside(path));
    }
    RETURN_IF_ERROR(check_file(partial, file));
    std::filesystem::rename(partial, path, error);
    if (error) return unavailable("{}: {}", path, error.message());
    step("renamed");
  }
  return sync_folder(options_.dir);
}

}  // namespace hai
