#include "common/text_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hai {
namespace {

// The length of the UTF-8 sequence at the front of `text`, 0 if there is none: overlong forms,
// surrogates and values above U+10FFFF are none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool is_too_large = first == 0xf4 && byte(1) >= 0x90;
  return is_overlong || is_surrogate || is_too_large ? 0 : length;
}

// Characters that turn the direction of what is beside them (Unicode, UAX #9): a name with one
// could show its line in another order.
bool turns_direction(std::string_view character) {
  static constexpr std::array<std::string_view, 12> kTurning = {
      "\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c",
      "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};
  return std::ranges::find(kTurning, character) != kTurning.end();
}

}  // namespace

std::optional<BadText> find_bad_text(std::string_view text, ControlCharacters controls) {
  int line = 1;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '\0') return BadText{line, "a NUL byte"};
    const bool is_fine = controls == ControlCharacters::allow || c == '\t' || c == '\n' ||
                         c == '\r' || (c == 0x7f && controls == ControlCharacters::delete_only);
    if ((static_cast<unsigned char>(c) < ' ' || c == 0x7f) && !is_fine) {
      return BadText{line, fmt::format("the control character {:#04x}", static_cast<unsigned>(c))};
    }
    const size_t length = utf8_length(text);
    if (length == 0) return BadText{line, "bytes that are not UTF-8"};
    if (c == '\n') ++line;
    text.remove_prefix(length);
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t length = utf8_length(text);
    if (first == '\t' || first == '\n' || first == '\r') {
      result += ' ';
    } else if (length == 0 || first < ' ' || first == 0x7f ||
               (first >= 0x80 && turns_direction(text.substr(0, length)))) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace hai
