#pragma once
// Compression of answers (RFC 1952), with zlib.

#include <string>
#include <string_view>

namespace hai {

// Level 1 (quick) to 9 (small). "" if zlib fails, which it does only without memory.
std::string gzip(std::string_view text, int level);

// Whether a client's Accept-Encoding takes gzip; "gzip;q=0" does not.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace hai
