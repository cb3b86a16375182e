#pragma once
// The version of this build: "0.1.0+git482.05e50ea3" in programs, whose sources have so many
// commits (cmake/source_version.cmake); "0.1.0", as CMake's project() states it, in tests and
// wherever the sources were built without git.

#include <string_view>

namespace hai {

std::string_view version();

// Programs have another one of their own.
std::string_view source_version();

}  // namespace hai
