#pragma once
// Builds HTML that cannot be broken out of: only literals of the program go in as they are, every
// value is escaped.

#include <cstdint>
#include <string>
#include <string_view>

namespace hai {

class Html {
 public:
  // A string literal.
  template <size_t n>
  Html& raw(const char (&literal)[n]) {
    text_.append(literal, n - 1);
    return *this;
  }
  Html& text(std::string_view value) {
    for (char c : value) {
      switch (c) {
        case '&':
          text_ += "&amp;";
          break;
        case '<':
          text_ += "&lt;";
          break;
        case '>':
          text_ += "&gt;";
          break;
        case '"':
          text_ += "&quot;";
          break;
        case '\'':
          text_ += "&#39;";
          break;
        default:
          text_ += c;
      }
    }
    return *this;
  }
  Html& number(int64_t value) {
    text_ += std::to_string(value);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace hai
