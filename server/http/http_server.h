#pragma once
// The HTTP/1.1 server on a thread of its own, so that parsing and formatting never delay the
// controller. Every limit is here; a client that breaks one gets an answer where possible and loses
// its connection.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"
#include "server/http/http_message.h"

namespace hai {

struct ServiceGate;

struct HttpLimits {
  // Ten thousand who watch, and whoever asks something. At the limit the machine with the most
  // connections that nobody known has used makes room with its oldest one; where there is none, the
  // oldest of whoever has the most does. One machine has a quarter of them so at most, but for this
  // one's own loopback.
  size_t connections = 12'000;
  size_t header_bytes = 16 << 10;
  size_t body_bytes = 2 << 20;
  size_t strangers_body_bytes = 64 << 10;
  // Who asks, by the head of his request; nullopt: nobody known. Empty: everybody is known, by no
  // name, and all have the connections together.
  std::function<std::optional<std::string>(const HttpRequest& head)> who = nullptr;
  // What a request whose body is too long is answered, if that is not the reason: who sends much to
  // a server that does not lead is to go elsewhere. Empty, or nullopt: 413.
  std::function<std::optional<HttpResponse>(const HttpRequest& head)> turn_away = nullptr;
  Duration read_timeout = 30s;    // for a whole request, and between requests
  Duration write_timeout = 30s;   // for a whole answer, and for each piece of a stream
  Duration answer_timeout = 30s;  // for the handler
  Duration tls_timeout = 10s;     // for the handshake
};

class HttpServer {
 public:
  // Called on the server's thread.
  using Handler = std::function<void(const HttpRequest&, HttpRespond)>;

  // Binds `address` (host:port, IPv6 in brackets, port 0 for any) and serves until it is destroyed.
  // With a certificate over TLS only; files that change are taken with the next connection.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, HttpLimits limits,
                                                   Handler handler, const TlsFiles& tls = {});
  // The same for the services of jobs: requests go on to them, and no handler answers.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, HttpLimits limits,
                                                   ServiceGate gate, const TlsFiles& tls);
  ~HttpServer();  // cuts all connections and joins the thread

  int port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<HttpServer>> start(std::unique_ptr<Impl> impl,
                                                   const std::string& address, const TlsFiles& tls);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
