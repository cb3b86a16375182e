#pragma once
// What the TLS of one connection begins with.

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "server/http/handshake_turns.h"

namespace hai {

struct ConnectionTls {
  std::shared_ptr<boost::asio::ssl::context> context;  // null = plain text
  HandshakeTurns* turns = nullptr;  // used until the server stops; not null with a context
  std::string machine;              // whose turns the handshake takes
};

}  // namespace hai
