#include "common/config/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/hex.h"

namespace hai {

namespace {

constexpr size_t kTokenBytesMin = 16;
constexpr size_t kTokenBytesMax = 255;
constexpr size_t kKeyBytesMin = 32;
constexpr size_t kKeyBytesMax = 4'096;

struct File {
  explicit File(const std::string& path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  const int descriptor;
};

Status check_private(const File& file, const std::string& what, const std::string& path) {
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) {
    const int error = errno;
    const std::string why =
        fmt::format("cannot read {} file {}: {}", what, path, std::strerror(error));
    return error == ENOENT ? not_found("{}", why) : unavailable("{}", why);
  }
  // Not of a pipe, which `<(command)` in a shell makes and nobody else can open.
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return permission_denied("{} file {}: mode {:04o} lets others at it: chmod 640 or less", what,
                             path, status.st_mode & 07777);
  }
  return ok();
}

// Of a long file only the beginning.
std::string beginning(int descriptor, size_t size_max) {
  std::string text(size_max, '\0');
  size_t size = 0;
  ssize_t count = 0;
  while (size < size_max && (count = ::read(descriptor, text.data() + size, size_max - size)) > 0) {
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

// Too much for a token either way.
std::string first_line(int descriptor) {
  const std::string text = beginning(descriptor, 4 * kTokenBytesMax);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<std::string> read_token_file(const std::string& path) {
  const File file(path);
  RETURN_IF_ERROR(check_private(file, "token", path));
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

Result<std::string> read_key_file(const std::string& path) {
  const File file(path);
  RETURN_IF_ERROR(check_private(file, "key", path));
  const std::string text = beginning(file.descriptor, 2 * kKeyBytesMax + 3);
  std::string_view digits = text;
  while (digits.ends_with('\n') || digits.ends_with('\r')) digits.remove_suffix(1);
  const std::optional<std::string> bytes = from_hex(digits);
  const std::string key = bytes && !bytes->empty() ? *bytes : text;
  if (key.size() < kKeyBytesMin || key.size() > kKeyBytesMax) {
    return invalid_argument(
        "key file {}: {} bytes, allowed is {} to {}: head -c 32 /dev/urandom makes a good one",
        path, key.size(), kKeyBytesMin, kKeyBytesMax);
  }
  return key;
}

}  // namespace hai
