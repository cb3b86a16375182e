#pragma once
// Small values in files of /sys and /proc, or of recorded stand-ins.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hai {

// The text without white space at its ends; none if there is no such file or it cannot be read.
std::optional<std::string> read_text(const std::string& path);
std::optional<int64_t> read_integer(const std::string& path);  // "123", "0x7b"

// Names in a folder, sorted; empty if there is none. At most `count_max`.
std::vector<std::string> list_folder(const std::string& path, size_t count_max = 256);

std::string_view trimmed(std::string_view text);

}  // namespace hai
