#pragma once
// Base64 as in JSON Web Tokens (RFC 7515): letters that need no escape in URLs, and no padding.

#include <optional>
#include <string>
#include <string_view>

namespace hai {

std::string to_base64url(std::string_view bytes);

// nullopt for every text that to_base64url does not give, so that bytes have one form only.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace hai
