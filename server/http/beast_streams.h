#pragma once
// What the sessions of HTTP share of Beast and Asio: the head of a request as handlers see it, and
// probes of a silent connection.

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <string>

#include "common/ascii.h"
#include "server/http/http_message.h"

namespace hai {

inline std::string_view text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

// Without the body.
inline HttpRequest head_of(const boost::beast::http::request_header<>& message,
                           const std::string& peer) {
  HttpRequest request{.method = std::string(text_of(message.method_string())), .peer = peer};
  for (const auto& field : message) {
    std::string name(text_of(field.name_string()));
    for (char& c : name) c = to_lower(c);
    request.headers[name] = std::string(text_of(field.value()));
  }
  return request;
}

// A connection on which nobody says anything for long ends a minute or two after the client has
// gone.
inline void keep_alive_probes(boost::asio::ip::tcp::socket& socket) {
  const auto set = [fd = socket.native_handle()](int level, int option, int value) {
    ::setsockopt(fd, level, option, &value,
                 sizeof value);  // without it nothing is worse than before
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

}  // namespace hai
