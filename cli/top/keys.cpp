#include "cli/top/keys.h"

#include <array>
#include <utility>

#include "cli/text_width.h"

namespace hai::cli::top {
namespace {

using Kind = Key::Kind;

// What follows "ESC [" or "ESC O", in the habits of xterm, tmux, screen and the Linux console.
constexpr std::array<std::pair<std::string_view, Kind>, 16> kSequences = {{{"A", Kind::up},
                                                                           {"B", Kind::down},
                                                                           {"C", Kind::right},
                                                                           {"D", Kind::left},
                                                                           {"H", Kind::home},
                                                                           {"F", Kind::end},
                                                                           {"1~", Kind::home},
                                                                           {"7~", Kind::home},
                                                                           {"4~", Kind::end},
                                                                           {"8~", Kind::end},
                                                                           {"5~", Kind::page_up},
                                                                           {"6~", Kind::page_down},
                                                                           {"M", Kind::enter},
                                                                           {"a", Kind::up},
                                                                           {"b", Kind::down},
                                                                           {"Z", Kind::unknown}}};

Kind kind_of_sequence(std::string_view sequence) {
  for (const auto& [text, kind] : kSequences) {
    if (text == sequence) return kind;
  }
  return Kind::unknown;
}

bool is_final(char c) { return c >= 0x40 && c <= 0x7E; }

Key key_of_byte(char c) {
  switch (c) {
    case '\r':
    case '\n':
      return {Kind::enter, ""};
    case 0x03:
      return {Kind::interrupt, ""};
    case 0x1A:
      return {Kind::suspend, ""};
    case 0x0C:
      return {Kind::redraw, ""};
    case 0x08:
    case 0x7F:
      return {Kind::backspace, ""};
    default:
      return static_cast<unsigned char>(c) < 0x20 ? Key{} : letter_key(std::string(1, c));
  }
}

bool is_lead_of_more(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes.front());
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return bytes.size() < length;
}

}  // namespace

std::vector<Key> KeyReader::take(std::string_view bytes) {
  std::vector<Key> keys;
  std::string text = std::exchange(pending_, "");
  text += bytes;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest.front() != '\033') {
      if (is_lead_of_more(rest)) break;
      const std::string_view letter = take_letter(rest);
      keys.push_back(letter.size() > 1 ? letter_key(std::string(letter))
                                       : key_of_byte(letter.front()));
      continue;
    }
    if (rest.size() == 1) break;
    if (rest[1] != '[' && rest[1] != 'O') {  // the escape key, and then another one
      keys.push_back({Kind::escape, ""});
      rest.remove_prefix(1);
      continue;
    }
    size_t end = 2;
    while (end < rest.size() && !is_final(rest[end])) ++end;
    if (end == rest.size()) break;
    keys.push_back({kind_of_sequence(rest.substr(2, end - 1)), ""});
    rest.remove_prefix(end + 1);
  }
  pending_ = rest;
  return keys;
}

std::vector<Key> KeyReader::pause() {
  if (pending_.empty()) return {};
  const bool is_escape = std::exchange(pending_, "").front() == '\033';
  return {is_escape ? Key{Kind::escape, ""} : Key{}};
}

}  // namespace hai::cli::top
