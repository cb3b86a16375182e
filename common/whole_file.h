#pragma once
// Small files read whole: configs, keys, certificates, tables.

#include <string>

#include "common/status.h"

namespace hai {

// not_found with the path and why; failed_precondition beyond 16 MiB.
Result<std::string> read_whole_file(const std::string& path);
// The same; "-" is standard input.
Result<std::string> read_file_or_input(const std::string& path);

}  // namespace hai
