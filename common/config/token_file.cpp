#include "common/config/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hai {

namespace {

constexpr size_t kTokenBytesMin = 16;
constexpr size_t kTokenBytesMax = 255;

struct File {
  explicit File(const std::string& path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  const int descriptor;
};

// Of a long file only the beginning: too much for a token either way.
std::string first_line(int descriptor) {
  std::array<char, 4 * kTokenBytesMax> bytes{};
  std::string text;
  ssize_t count = 0;
  while (text.size() < bytes.size() && text.find('\n') == std::string::npos &&
         (count = ::read(descriptor, bytes.data(), bytes.size())) > 0) {
    text.append(bytes.data(), static_cast<size_t>(count));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<std::string> read_token_file(const std::string& path) {
  const File file(path);
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) {
    return not_found("cannot read token file {}: {}", path, std::strerror(errno));
  }
  // Not of a pipe, which `<(command)` in a shell makes and nobody else can open.
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return permission_denied("token file {}: mode {:04o} lets others at it: chmod 640 or less",
                             path, status.st_mode & 07777);
  }
  std::string token = first_line(file.descriptor);
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.size() < kTokenBytesMin || token.size() > kTokenBytesMax) {
    return invalid_argument("token file {}: the first line has {} characters, allowed is {} to {}",
                            path, token.size(), kTokenBytesMin, kTokenBytesMax);
  }
  const bool is_printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (!is_printable) return invalid_argument("token file {}: spaces or odd characters", path);
  return token;
}

}  // namespace hai
