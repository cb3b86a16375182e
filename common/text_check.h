#pragma once
// Is this a text at all? Protobuf, JSON and PostgreSQL take neither NUL bytes nor broken UTF-8, so
// every text from outside is checked once, here.

#include <optional>
#include <string>
#include <string_view>

namespace hai {

struct BadText {
  int line = 1;      // 1-based
  std::string what;  // "a NUL byte", "bytes that are not UTF-8", "the control character 0x01"
};
// The first thing that no text has. Tabs and line ends are fine, other control characters only if
// the caller says so.
// delete_only: 0x7f, which JSON takes as it is.
enum class ControlCharacters { refuse, delete_only, allow };
std::optional<BadText> find_bad_text(std::string_view text,
                                     ControlCharacters controls = ControlCharacters::refuse);

// The text with '?' for every byte that find_bad_text would name and every character that turns the
// direction of writing, and a blank for each tab and line end: for messages that quote what
// somebody sent.
std::string printable(std::string_view text);

}  // namespace hai
