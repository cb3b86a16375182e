#include "common/gzip/gzip.h"

#include <zlib.h>

#include <algorithm>

namespace hai {

namespace {

constexpr int kWindowBitsGzip = 15 + 16;  // zlib's way to ask for gzip's header
constexpr int kMemoryLevel = 8;
constexpr size_t kStepBytes = 256 << 10;

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

Gunzipped gunzip(std::string_view compressed, size_t text_bytes_max) {
  Gunzipped result;
  z_stream stream{};
  if (inflateInit2(&stream, kWindowBitsGzip) != Z_OK) return result;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  while (stream.avail_in > 0 && result.text.size() < text_bytes_max) {
    const size_t before = result.text.size();
    result.text.resize(std::min(before + kStepBytes, text_bytes_max));
    stream.next_out = reinterpret_cast<Bytef*>(result.text.data() + before);
    stream.avail_out = static_cast<uInt>(result.text.size() - before);
    const int code = inflate(&stream, Z_NO_FLUSH);
    result.text.resize(result.text.size() - stream.avail_out);
    if (code == Z_STREAM_END) {
      result.whole_bytes = compressed.size() - stream.avail_in;
      result.whole_text_bytes = result.text.size();
      if (inflateReset(&stream) != Z_OK) break;
    } else if (code != Z_OK) {
      break;
    }
  }
  inflateEnd(&stream);
  return result;
}

}  // namespace hai
