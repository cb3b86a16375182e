#pragma once
// Words as a POSIX shell splits them, and quoting that survives it. Quotes and backslashes count;
// nothing is expanded: no variables, globs, pipes or comments, so that a job's parameters mean the
// same on every node.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

inline constexpr size_t kWordsMax = 10'000;

// An open quote, a trailing backslash, a NUL byte or too many words: invalid_argument.
Result<std::vector<std::string>> split_parameters(std::string_view text);

// A text that split_parameters and a shell read back as these words.
std::string join_words(const std::vector<std::string>& words);

}  // namespace hai
