#include "cli/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hai::cli {
namespace {

constexpr int64_t kFileBytesMax = 16 << 20;

bool write_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return fsync(fd) == 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return not_found("{}: no such file", path);
    return failed_precondition("{}: {}", path, std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) return failed_precondition("{} is a directory", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed_precondition("{}: cannot be read", path);
  // The size that stat tells says nothing of pipes and devices: /dev/zero never ends.
  std::string text;
  std::array<char, 65'536> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > static_cast<size_t>(kFileBytesMax)) {
      return failed_precondition("{}: at most {} bytes are read", path, kFileBytesMax);
    }
  }
  if (in.bad()) return failed_precondition("{}: cannot be read", path);
  return text;
}

Status write_file(const std::string& path, const std::string& text, mode_t mode) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return failed_precondition("{}: {}", temporary, std::strerror(errno));
  bool done = fchmod(fd, mode) == 0 && write_all(fd, text);
  int error = errno;
  close(fd);
  if (done && rename(temporary.c_str(), path.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done) return ok();
  unlink(temporary.c_str());
  return failed_precondition("{}: {}", path, std::strerror(error));
}

Status make_directories(const std::string& path, mode_t mode) {
  std::error_code error;
  const bool created = std::filesystem::create_directories(path, error);
  if (error) return failed_precondition("{}: {}", path, error.message());
  if (created && chmod(path.c_str(), mode) != 0) {
    return failed_precondition("{}: {}", path, std::strerror(errno));
  }
  return ok();
}

std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty() || folder.front() != '/') continue;
    const std::string candidate = (std::filesystem::path(folder) / program).string();
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace hai::cli
