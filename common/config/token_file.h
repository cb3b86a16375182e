#pragma once
// Secrets come from files, never from the command line or a config, where others could read them.

#include <string>

#include "common/status.h"

namespace hai {

// The token in the file: one line, 16 to 255 printable characters. Refuses a file that others than
// its owner and group can read, or others than its owner can write; `not_found` only if there is
// none. The error names the file but never what is in it.
Result<std::string> read_token_file(const std::string& path);

// The key in the file: 32 to 4,096 random bytes as they are, or as hexadecimal digits on one line.
// Refuses the same files.
Result<std::string> read_key_file(const std::string& path);

}  // namespace hai
