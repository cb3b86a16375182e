#pragma once
// "Did you mean": the candidate that differs least from a mistyped word.

#include <string>
#include <string_view>
#include <vector>

namespace hai {

// "" if none is near: more than a third of the word (at least 2 characters) would have to change.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hai
