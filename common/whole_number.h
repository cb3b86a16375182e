#pragma once
// A text that is a whole number and nothing else, as people and files write ids, counts and ports.

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hai {

// Nothing if the text is empty, has anything beside digits and one leading '-', or is out of Int's
// range.
template <std::integral Int = int64_t>
std::optional<Int> whole_number(std::string_view text) {
  Int value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

}  // namespace hai
