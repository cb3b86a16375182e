#pragma once
// Bytes from a keyboard to keys. An escape sequence may come in parts.

#include <string>
#include <string_view>
#include <vector>

namespace hai::cli::top {

struct Key {
  enum class Kind {
    letter,
    enter,
    escape,
    backspace,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    interrupt,  // Ctrl-C
    suspend,    // Ctrl-Z
    redraw,     // Ctrl-L
    unknown,
  };
  Kind kind = Kind::unknown;
  std::string letter;  // of UTF-8
  bool operator==(const Key&) const = default;
};

inline Key letter_key(std::string letter) { return {Key::Kind::letter, std::move(letter)}; }

class KeyReader {
 public:
  std::vector<Key> take(std::string_view bytes);
  // Nothing has come for a while: an escape that began a sequence was the key itself.
  std::vector<Key> pause();
  bool is_inside() const { return !pending_.empty(); }

 private:
  std::string pending_;
};

}  // namespace hai::cli::top
