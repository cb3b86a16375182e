#pragma once
// Config files as text, for programs that write them: people's comments and keys stay as they are.

#include <string>
#include <string_view>

namespace hai {

// A double-quoted YAML scalar: paths and names may hold anything.
std::string quoted_yaml(std::string_view text);

// The text with the lines of this top-level key, and all that are indented below it, replaced by
// `section`, which ends with a line end or is "". A key that is not there is added at the end.
std::string with_section(std::string_view yaml, std::string_view key, std::string_view section);

}  // namespace hai
