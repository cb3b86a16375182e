#pragma once
// The version of all programs of this build, as CMake's project() states it: "0.1.0".

#include <string_view>

namespace hai {

std::string_view version();

}  // namespace hai
