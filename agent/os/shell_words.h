#pragma once
// Splits text into words as a POSIX shell does, with quotes and backslashes but without any
// expansion.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

// An open quote or a lone backslash at the end is invalid_argument.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace hai
