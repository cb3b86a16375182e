#include "common/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/unique_fd.h"

namespace hai {
namespace {

constexpr size_t kWholeFileBytesMax = size_t{16} << 20;

Result<std::string> read_all(int file, const std::string& what) {
  std::string text;
  std::array<char, 65'536> block{};
  while (true) {
    const ssize_t count = ::read(file, block.data(), block.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return not_found("cannot read {}: {}", what, std::strerror(errno));
    text.append(block.data(), static_cast<size_t>(count));
    // The size that stat tells says nothing of pipes and devices: /dev/zero never ends.
    if (text.size() > kWholeFileBytesMax) {
      return failed_precondition("{}: at most {} bytes are read", what, kWholeFileBytesMax);
    }
  }
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return not_found("cannot read {}: {}", path, std::strerror(errno));
  return read_all(file.get(), path);
}

Result<std::string> read_file_or_input(const std::string& path) {
  return path == "-" ? read_all(STDIN_FILENO, "standard input") : read_whole_file(path);
}

}  // namespace hai
