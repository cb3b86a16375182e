#pragma once
// Bytes as hexadecimal digits.

#include <optional>
#include <string>
#include <string_view>

namespace hai {

// Two lower-case digits for each byte.
std::string to_hex(std::string_view bytes);
// The bytes of an even number of digits of either case, none included; nullopt for anything else.
std::optional<std::string> from_hex(std::string_view digits);

}  // namespace hai
