#pragma once
// Secrets that a person types or pipes in: never arguments, which others on the machine see and the
// shell's history keeps.

#include <cstddef>
#include <string>

namespace hai::cli {

// Of a terminal one line that is not shown, after `prompt` on standard error; else standard input
// to its end, but for one newline there. Reads no more than one byte above `bytes_max`.
std::string read_secret_input(const std::string& prompt, size_t bytes_max);

}  // namespace hai::cli
