#pragma once
// The scripts that `hai completion SHELL` prints. They know nothing themselves: each asks
// `hai __complete WORD...` for every TAB.

#include <string>
#include <string_view>
#include <vector>

namespace hai::cli {

// "" for a shell that is not known.
std::string_view completion_script(std::string_view shell);

}  // namespace hai::cli
