#pragma once
// Whether answers may be compressed; common/gzip compresses them.

#include <string_view>

namespace hai {

// Whether a client's Accept-Encoding takes gzip; "gzip;q=0" does not.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace hai
