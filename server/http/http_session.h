#pragma once
// One HTTP connection: reads a request, waits for its answer, writes it, reads the next. Has types
// of Asio: included by the sources of hai_http_server only.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

#include "server/http/connection_tls.h"
#include "server/http/http_server.h"

namespace hai {

class HttpSession;

// Told on the io_context's thread, each at most once.
struct HttpSessionEvents {
  std::function<void(HttpSession*, const std::string& user)> known;  // somebody known has asked
  std::function<void(HttpSession*)> ended;                           // the connection is gone
};

class HttpSession {
 public:
  virtual ~HttpSession() = default;
  // Both on the io_context's thread. close() cuts the connection at once.
  virtual void start() = 0;
  virtual void close() = 0;

  static std::shared_ptr<HttpSession> make(std::shared_ptr<boost::asio::io_context> context,
                                           boost::asio::ip::tcp::socket socket, ConnectionTls tls,
                                           const HttpLimits& limits,
                                           const HttpServer::Handler& handler,
                                           HttpSessionEvents events);
};

}  // namespace hai
