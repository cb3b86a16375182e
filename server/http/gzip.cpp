#include "server/http/gzip.h"

#include <algorithm>
#include <utility>

namespace hai {

namespace {

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

HttpChunk gzip_piece(const std::string& text, Pack pack) {
  constexpr int kQuick = 1;
  std::string packed = pack(text, kQuick);
  return packed.empty() ? HttpChunk::cut() : HttpChunk(std::move(packed));
}

}  // namespace hai
