#include "server/http/service_heads.h"

#include <array>
#include <utility>
#include <vector>

#include "server/http/beast_streams.h"

namespace hai {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// Of one connection only (RFC 9110, 7.6.1).
constexpr auto kHopByHop = std::to_array<const char*>(
    {"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
     "TE", "Trailer", "Upgrade"});
// What would reach beyond the service: the browser takes cookies, storage and rules of transport
// for the whole machine, whatever the port.
constexpr auto kBeyondService =
    std::to_array<const char*>({"Alt-Svc", "Clear-Site-Data", "Public-Key-Pins",
                                "Service-Worker-Allowed", "Strict-Transport-Security"});

// Of a value that comes out longer than it went in. Beast throws beyond 65,533 bytes; no browser
// keeps a cookie of more than 4 KiB or follows such an address. Left out, if longer.
constexpr size_t kMendedBytesMax = 60'000;

void set_mended(http::fields& fields, http::field name, const std::string& value) {
  fields.erase(name);
  if (!value.empty() && value.size() <= kMendedBytesMax) fields.insert(name, value);
}

void leave_out_hops(http::fields& fields) {
  std::vector<std::string> named;
  for (const auto& field : http::token_list(fields[http::field::connection]))
    named.emplace_back(text_of(field));
  for (const std::string& name : named) {
    // What frames the body, or says who is asked, is nothing to be named here.
    if (!beast::iequals(name, "close") && !beast::iequals(name, "keep-alive") &&
        !beast::iequals(name, "content-length") && !beast::iequals(name, "transfer-encoding") &&
        !beast::iequals(name, "host"))
      fields.erase(name);
  }
  for (const char* name : kHopByHop) fields.erase(name);
}

}  // namespace

void mend_request(RequestHead& head, const HttpRequest& asked, const ServiceWay& way,
                  const ServicePlace& place, std::string_view scheme) {
  leave_out_hops(head);
  if (way.is_by_token) head.erase(http::field::authorization);
  head.erase("X-Hai-Csrf");
  set_mended(head, http::field::cookie, cookies_inside(asked.header("cookie")));
  head.set("X-Forwarded-For", asked.peer);
  head.set("X-Forwarded-Proto", std::string(scheme));
  head.set("X-Forwarded-Host", std::string(asked.header("host")));
  head.erase("X-Forwarded-Prefix");
  if (!place.is_cut_off) return;
  head.set("X-Forwarded-Prefix", place.prefix);
  head.target(way.rest);
}

void mend_answer(AnswerHead& head, std::string_view host, const ServicePlace& place) {
  leave_out_hops(head);
  for (const char* name : kBeyondService) head.erase(name);
  std::vector<std::string> cookies;
  const auto [first, last] = head.equal_range(http::field::set_cookie);
  for (auto at = first; at != last; ++at) {
    auto cookie = cookie_outside(text_of(at->value()), place);
    if (cookie && cookie->size() <= kMendedBytesMax) cookies.push_back(std::move(*cookie));
  }
  head.erase(http::field::set_cookie);
  for (const std::string& cookie : cookies) head.insert(http::field::set_cookie, cookie);
  if (const auto location = head.find(http::field::location); location != head.end()) {
    const std::string outside = location_outside(text_of(location->value()), host, place);
    set_mended(head, http::field::location, outside);
  }
}

void set_upgrade(http::fields& fields) {
  fields.set(http::field::connection, "Upgrade");
  fields.set(http::field::upgrade, "websocket");
}

http::response<http::string_body> own_answer(HttpResponse response, bool is_for_head) {
  http::response<http::string_body> own(static_cast<http::status>(response.status), 11);
  own.set(http::field::server, "hai");
  own.set(http::field::content_type, response.content_type);
  own.set(http::field::cache_control, "no-store");
  own.set("X-Content-Type-Options", "nosniff");
  own.set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  for (const auto& [name, value] : response.headers) own.set(name, value);
  own.body() = std::move(response.body);
  own.keep_alive(false);
  own.prepare_payload();
  if (is_for_head) own.body().clear();  // the length stays: that of what GET would give
  return own;
}

}  // namespace hai
