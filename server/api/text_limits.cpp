#include "server/api/text_limits.h"

#include <algorithm>

#include "common/text_check.h"

namespace hai {

constexpr size_t kErrorBytesMax = 2'000;

bool is_person_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '@' || c == '+';
}

Status check_sentence(std::string_view what, std::string_view text) {
  if (text.size() > kReasonBytesMax) {
    return invalid_argument("{} has {} bytes, allowed is {}", what, text.size(), kReasonBytesMax);
  }
  if (const auto bad = find_bad_text(text)) return invalid_argument("{} has {}", what, bad->what);
  return ok();
}

std::string asked_name(std::string_view name) { return printable(name.substr(0, kAskedBytesMax)); }

Status shortened(const Status& error) {
  const std::string_view said = error.message();
  if (said.size() <= kErrorBytesMax) return error;
  return Status(error.code(), printable(said.substr(0, kErrorBytesMax)) + "...");
}

Status check_person(std::string_view what, std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) {
    return invalid_argument("{} has {} characters, allowed is 1 to {}", what, name.size(),
                            kNameBytesMax);
  }
  if (std::ranges::all_of(name, is_person_char)) return ok();
  return invalid_argument("{} may have letters, digits and . _ - @ + only", what);
}

}  // namespace hai
