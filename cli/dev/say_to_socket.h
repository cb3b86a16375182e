#pragma once
// One line to a Unix socket, one line back.

#include <string>

#include "common/status.h"

namespace hai::cli {

// The answer without its "ok "; invalid_argument with what stands after "error ".
Result<std::string> say_to_socket(const std::string& path, const std::string& line);

}  // namespace hai::cli
