#include "agent/health/line_pattern.h"

#include <utility>

namespace hai {

namespace {

constexpr int kStepsMax = 2'000;

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t") == std::string_view::npos;
}

}  // namespace

LinePattern::LinePattern(std::string_view pattern) : is_open_(pattern.ends_with('*')) {
  Part part;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_star = pattern[i] == '*';
    const bool is_word_gap = pattern.substr(i).starts_with("{}");
    if (!is_star && !is_word_gap) {
      part.literal += pattern[i];
      continue;
    }
    if (!part.literal.empty()) parts_.push_back(std::exchange(part, {}));
    if (part.before != Gap::word) part.before = is_star ? Gap::text : Gap::word;
    if (is_word_gap) ++i;
  }
  if (part.literal.empty()) {
    last_ = part.before;
  } else {
    parts_.push_back(std::move(part));
  }
}

std::optional<std::string> LinePattern::match(std::string_view line) const {
  std::string word;
  int steps = 0;
  if (!match_from(0, line, 0, word, steps)) return std::nullopt;
  return word;
}

bool LinePattern::match_from(size_t index, std::string_view line, size_t start, std::string& word,
                             int& steps) const {
  if (index == parts_.size()) {
    const std::string_view rest = line.substr(start);
    if (last_ == Gap::none) return rest.empty();
    if (last_ == Gap::text) return true;
    const std::string_view last = is_open_ ? rest.substr(0, rest.find(' ')) : rest;
    if (!is_word(last)) return false;
    word = std::string(last);
    return true;
  }
  const Part& part = parts_[index];
  for (size_t at = start; steps < kStepsMax; ++at) {
    ++steps;
    at = line.find(part.literal, at);
    if (at == std::string_view::npos || (part.before == Gap::none && at != start)) return false;
    const std::string_view gap = line.substr(start, at - start);
    if (part.before == Gap::word && !gap.empty() && !is_word(gap)) return false;
    if (part.before == Gap::word && gap.empty()) continue;
    if (!match_from(index + 1, line, at + part.literal.size(), word, steps)) continue;
    if (part.before == Gap::word) word = std::string(gap);
    return true;
  }
  return false;
}

}  // namespace hai
