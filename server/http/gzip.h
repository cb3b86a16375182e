#pragma once
// Whether answers may be compressed, and pieces of streamed ones; common/gzip compresses them.

#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace hai {

// Whether a client's Accept-Encoding takes gzip; "gzip;q=0" does not.
bool accepts_gzip(std::string_view accept_encoding);

// The piece as one member of a gzip file. HttpChunk::cut() if it can't be made: a client must not
// take what came before for all there is. `pack` is gzip(), which gives "" where it fails.
using Pack = std::string (*)(std::string_view text, int level);
HttpChunk gzip_piece(const std::string& text, Pack pack);

}  // namespace hai
