#include "server/http/negotiation.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/gzip/gzip.h"
#include "server/auth/token.h"
#include "server/http/gzip.h"

namespace hai {

namespace {

constexpr size_t kGzipBytesMin = 1'024;  // less fits one packet anyway
// More would hold up the other connections of the thread for longer than sending it as it is.
constexpr size_t kGzipBytesMax = 4 << 20;
constexpr int kQuick = 1;
constexpr size_t kEtagDigits = 32;

std::string* find_header(HttpResponse& response, std::string_view name) {
  for (auto& [key, value] : response.headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool is_text(std::string_view content_type) {
  return content_type.starts_with("text/") || content_type.find("json") != std::string_view::npos ||
         content_type.find("yaml") != std::string_view::npos ||
         content_type.find("javascript") != std::string_view::npos ||
         content_type.find("svg") != std::string_view::npos;
}

void compress(HttpResponse& response) {
  if (!is_text(response.content_type) || find_header(response, "Content-Encoding")) return;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (response.body.size() < kGzipBytesMin || response.body.size() > kGzipBytesMax) return;
  std::string small = gzip(response.body, kQuick);
  if (small.empty() || small.size() >= response.body.size()) return;
  response.body = std::move(small);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

Negotiation negotiation_of(const HttpRequest& request) {
  return {.is_get = request.method == "GET" || request.method == "HEAD",
          .is_head = request.method == "HEAD",
          .takes_gzip = accepts_gzip(request.header("accept-encoding")),
          .if_none_match = std::string(request.header("if-none-match"))};
}

void negotiate(const Negotiation& asked, HttpResponse& response) {
  if (response.stream || response.status != 200) return;
  if (asked.is_get) {
    std::string* etag = find_header(response, "ETag");
    if (etag == nullptr && !response.body.empty()) {
      response.headers.emplace_back("ETag", etag_of(response.body));
      etag = &response.headers.back().second;
      // May be kept, but has to be asked for again each time: then a 304 says it in 100 bytes.
      if (!find_header(response, "Cache-Control")) {
        response.headers.emplace_back("Cache-Control", "private, no-cache");
        etag = find_header(response, "ETag");
      }
    }
    if (etag != nullptr && matches_etag(asked.if_none_match, *etag)) {
      response.status = 304;
      response.body.clear();
      return;
    }
  }
  if (asked.takes_gzip) compress(response);
}

std::string etag_of(std::string_view body) {
  return fmt::format("W/\"{}\"", hash_token(body).substr(0, kEtagDigits));
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  const auto opaque = [](std::string_view tag) {
    while (tag.starts_with(' ')) tag.remove_prefix(1);
    while (tag.ends_with(' ')) tag.remove_suffix(1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    return tag;
  };
  while (!if_none_match.empty()) {
    const size_t end = std::min(if_none_match.find(','), if_none_match.size());
    const std::string_view tag = opaque(if_none_match.substr(0, end));
    if_none_match.remove_prefix(std::min(end + 1, if_none_match.size()));
    if (tag == "*" || (!tag.empty() && tag == opaque(etag))) return true;
  }
  return false;
}

}  // namespace hai
