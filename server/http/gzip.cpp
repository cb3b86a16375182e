#include "server/http/gzip.h"

#include <zlib.h>

#include <algorithm>

namespace hai {

namespace {

constexpr int kWindowBitsGzip = 15 + 16;  // zlib's way to ask for gzip's header
constexpr int kMemoryLevel = 8;

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// "q=0", "q=0.000": the client will not have it.
bool is_refused(std::string_view parameters) {
  const size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  const std::string_view weight = trim(parameters.substr(q + 2));
  return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::string gzip(std::string_view text, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kWindowBitsGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int code = deflate(&stream, Z_FINISH);
  result.resize(code == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return result;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const size_t end = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view item = trim(accept_encoding.substr(0, end));
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
    const size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view coding = trim(item.substr(0, semicolon));
    if (coding == "gzip" || coding == "*") return !is_refused(item.substr(semicolon));
  }
  return false;
}

}  // namespace hai
