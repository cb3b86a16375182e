#pragma once
// How many columns of a terminal a text takes: most letters one, those of Chinese, Japanese and
// Korean two, marks that sit on the letter before none. By a short table of our own: the answer of
// the C library depends on the locale of who asks.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hai::cli {

// Takes one letter of UTF-8 off the front of `text`, which is not empty; a byte that is no UTF-8
// stands for itself.
std::string_view take_letter(std::string_view& text);
// Of one letter: 0, 1 or 2.
size_t letter_width(std::string_view letter);

size_t display_width(std::string_view text);
// At most `width` columns, the last one "…" when something was cut.
std::string cut(std::string_view text, size_t width);
// Exactly `width` columns: cut, or filled with blanks.
std::string fit(std::string_view text, size_t width, bool right = false);
// Lines of at most `width` columns, broken between words where there are some.
std::vector<std::string> wrapped_lines(std::string_view text, size_t width);

}  // namespace hai::cli
