#pragma once
// Patterns for lines of the kernel's log: "*" is any text, "{}" a word without spaces, at most one
// per pattern, up to what the pattern has next or, as "{}*" at its end, up to a space. The pattern
// must match the whole line. Bounded in time for any line. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hai {

class LinePattern {
 public:
  explicit LinePattern(std::string_view pattern);

  // The word that "{}" stands for, or "" if the pattern has none; nothing if the line does not
  // match.
  std::optional<std::string> match(std::string_view line) const;

 private:
  enum class Gap { none, text, word };
  struct Part {
    Gap before = Gap::none;
    std::string literal;
  };
  bool match_from(size_t part, std::string_view line, size_t start, std::string& word,
                  int& steps) const;
  std::vector<Part> parts_;
  Gap last_ = Gap::none;  // after the last literal
  bool is_open_ = false;  // ends with "*"
};

}  // namespace hai
