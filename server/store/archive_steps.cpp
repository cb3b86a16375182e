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

Status ArchiveSteps::name_files(const std::vector<ArchivedFile>& files) const {
  for (const ArchivedFile& file : files) {
    std::error_code error;
    const std::string path = final_path(options_.dir, file);
    if (std::filesystem::exists(path, error)) {
      RETURN_IF_ERROR(check_file(path, file));
      continue;
    }
    RETURN_IF_ERROR(check_file(partial_path(options_.dir, file), file));
    std::filesystem::rename(partial_path(options_.dir, file), path, error);
    if (error) return unavailable("{}: {}", path, error.message());
    step("renamed");
  }
  return sync_folder(options_.dir);
}

}  // namespace hai
