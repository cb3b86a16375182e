#pragma once
// Small files read and written whole; programs found.

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai::cli {

// not_found if it does not exist; files above 16 MiB are refused.
Result<std::string> read_file(const std::string& path);
// Through a temporary file and rename, so that a reader sees the old or the new text, never half.
Status write_file(const std::string& path, const std::string& text, mode_t mode);
Status make_directories(const std::string& path, mode_t mode);
// An absolute path for a program that a shell would find in PATH; "" if there is none.
std::string find_in_path(const std::string& program);

}  // namespace hai::cli
