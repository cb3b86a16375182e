#pragma once
// What skopeo(1) and its like say when they fail.

#include <string>
#include <string_view>

namespace hai {

// The last error of the output, without the form of their log: one line, at most 400 bytes.
std::string complaint_of(std::string_view output);

}  // namespace hai
