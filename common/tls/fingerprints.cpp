#include "common/tls/fingerprints.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace hai {

Result<std::vector<std::string>> parse_fingerprints(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream words(text);
  for (std::string each; std::getline(words, each, ',');) {
    std::ranges::transform(each, each.begin(), [](unsigned char c) { return std::tolower(c); });
    constexpr std::string_view kPrefix = "sha256:";
    const std::string digits = each.starts_with(kPrefix) ? each.substr(kPrefix.size()) : each;
    const bool is_hex =
        std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (digits.size() != 64 || !is_hex) {
      return invalid_argument(
          "--ca-fingerprint: must be the 64 hexadecimal digits that `hai-server ca show` shows, is "
          "'{}'",
          each.substr(0, 100));
    }
    found.push_back(digits);
  }
  if (found.empty()) return invalid_argument("--ca-fingerprint: is empty");
  return found;
}

}  // namespace hai
