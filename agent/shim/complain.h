#pragma once
// What the shim says when something does not work: a line to its stderr, which is a file beside the
// rank's others. That may fail, on a full disk for one, and must not matter: a rank outlives it.

#include <string_view>

namespace hai {

void complain(std::string_view text);

}  // namespace hai
