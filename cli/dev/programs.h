#pragma once
// The other programs of this build.

#include <string>

#include "common/status.h"

namespace hai::cli {

// `name` next to this executable, else in PATH.
Result<std::string> find_program(const std::string& name);

}  // namespace hai::cli
