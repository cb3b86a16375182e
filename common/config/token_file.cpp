#include "common/config/token_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace hai {

namespace {

constexpr size_t kTokenBytesMin = 16;
constexpr size_t kTokenBytesMax = 255;

}  // namespace

Result<std::string> read_token_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return not_found("cannot read token file {}: {}", path, std::strerror(errno));
  std::string token;
  std::getline(file, token);
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
