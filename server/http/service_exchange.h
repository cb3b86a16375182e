#pragma once
// One request to a service and its answer, with what Beast needs while they are under way. Included
// by service_session.cpp only.

#include <array>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>

#include "server/http/service_tunnel.h"

namespace hai {

struct ServiceExchange {
  static constexpr size_t kPieceBytes = 32 << 10;
  using Body = boost::beast::http::buffer_body;

  std::shared_ptr<ServiceTunnel> tunnel;
  bool is_upgrade = false;
  bool is_asked = false;  // all of the request has gone
  boost::beast::http::request<Body> request;
  std::optional<boost::beast::http::request_serializer<Body>> to_service;
  std::optional<boost::beast::http::response_parser<Body>> parser;
  boost::beast::http::response<Body> answer;
  std::optional<boost::beast::http::response_serializer<Body>> to_client;
  std::array<char, kPieceBytes> asked_piece{};
  std::array<char, kPieceBytes> answer_piece{};
  bool is_kept = false;  // the client's connection, after it
  bool is_service_kept = false;

  // Whether the connections on both sides go on after it. `is_old`: the client speaks HTTP/1.0.
  void decide_what_is_kept(bool is_old, bool client_keeps) {
    const bool ends_with_connection = parser->need_eof();
    is_service_kept = !ends_with_connection && parser->get().keep_alive();
    is_kept = client_keeps && !is_old;
    answer.version(11);
    if (ends_with_connection && !is_old) answer.chunked(true);
    if (!is_kept) answer.set(boost::beast::http::field::connection, "close");
  }
};

inline std::string take_all(boost::beast::flat_buffer& buffer) {
  std::string bytes = boost::beast::buffers_to_string(buffer.data());
  buffer.clear();
  return bytes;
}

}  // namespace hai
