#pragma once
// What a character is, whatever the locale.

namespace hai {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace hai
