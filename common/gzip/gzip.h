#pragma once
// gzip (RFC 1952), with zlib.

#include <string>
#include <string_view>

namespace hai {

// One member. Level 1 (quick) to 9 (small). "" if zlib fails, which it does only without memory.
std::string gzip(std::string_view text, int level);

// A file of members one after the other, of which the last may be cut off or be followed by
// something else, as a machine that went down in the middle of a write leaves it.
struct Gunzipped {
  std::string text;             // all that can be read, with what there is of the last member
  size_t whole_bytes = 0;       // compressed: up to the end of the last whole member
  size_t whole_text_bytes = 0;  // the same of `text`
};
// Stops at `text_bytes_max` bytes of text.
Gunzipped gunzip(std::string_view compressed, size_t text_bytes_max);

}  // namespace hai
