#include "server/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <list>
#include <map>
#include <thread>

#include "common/host_port.h"
#include "common/log.h"
#include "common/tcp_listen.h"
#include "server/http/http_session.h"
#include "server/http/http_tls.h"
#include "server/http/service_session.h"
#include "server/http/stranger_connections.h"

namespace hai {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr int kAcceptedAtOnce = 64;
constexpr size_t kStrangersShare = 4;  // a quarter

}  // namespace

struct HttpServer::Impl {
  using Sessions = std::list<HttpSession*>;  // the oldest first
  struct Kept {
    std::shared_ptr<HttpSession> session;
    std::string machine;        // where it comes from
    uint64_t number = 0;        // among the strangers
    Sessions* among = nullptr;  // those of its user; null = a stranger
    Sessions::iterator place = {};
    std::string user = {};
  };

  Impl(HttpLimits used_limits, Handler used_handler)
      : limits(std::move(used_limits)), handler(std::move(used_handler)) {}
  Impl(HttpLimits used_limits, ServiceGate used_gate)
      : limits(std::move(used_limits)), gate(std::move(used_gate)) {}

  Status listen(const std::string& address) {
    RETURN_IF_ERROR(listen_on(acceptor, address));
    port = acceptor.local_endpoint().port();
    acceptor.non_blocking(true);  // for admit_more()
    return ok();
  }

  void accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return accept_later();
      admit(std::move(socket));
      admit_more();
      accept();
    });
  }

  // Those behind it, many for each step of a handshake: turns are by address only here, and not
  // where the kernel keeps those that wait to be accepted.
  void admit_more() {
    for (int count = 0; count < kAcceptedAtOnce; ++count) {
      boost::system::error_code error;
      tcp::socket socket = acceptor.accept(error);
      if (error) return;  // Nobody waits; if it is worse, accept() is told so, too.
      admit(std::move(socket));
    }
  }

  void admit(tcp::socket socket) {
    boost::system::error_code error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;  // It has left already.
    const std::string address = from.address().to_string();
    const size_t share = limits.connections / kStrangersShare;
    if (auto* one = strangers.in_the_way_of(address, share)) close(*one);
    if (sessions.size() >= limits.connections) make_room();
    if (sessions.size() < limits.connections) add(std::move(socket), machine_of(address));
  }

  // Most likely the process is out of file descriptors: turning at once would only burn a core.
  void accept_later() {
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  void add(tcp::socket socket, const std::string& machine) {
    boost::system::error_code ignored;
    if (tls) tls->take_changes();
    socket.set_option(tcp::no_delay(true), ignored);
    HttpSessionEvents events = {
        .known = [this](HttpSession* known, const std::string& user) { put_among(known, user); },
        .ended =
            [this](HttpSession* ended) {
              take_out(sessions.at(ended));
              sessions.erase(ended);
            }};
    ConnectionTls own_tls{
        .context = tls ? tls->context() : nullptr, .turns = &turns, .machine = machine};
    auto session = gate ? make_service_session(context, std::move(socket), std::move(own_tls),
                                               limits, *gate, std::move(events))
                        : HttpSession::make(context, std::move(socket), std::move(own_tls), limits,
                                            handler, std::move(events));
    sessions[session.get()] = {
        .session = session, .machine = machine, .number = strangers.add(machine, session.get())};
    session->start();
  }

  void take_out(Kept& kept) {
    if (kept.among == nullptr) return strangers.remove(kept.machine, kept.number);
    kept.among->erase(kept.place);
    if (kept.among->empty()) of_users.erase(kept.user);
  }

  void put_among(HttpSession* session, const std::string& user) {
    Kept& kept = sessions.at(session);
    take_out(kept);
    kept.user = user;
    kept.among = &of_users[user];
    kept.place = kept.among->insert(kept.among->end(), session);
  }

  // Whoever has the most connections, if they are several of somebody with a name; else null.
  Sessions* heaviest() {
    Sessions* most = nullptr;
    for (auto& [user, own] : of_users) {
      if (user.empty() || own.size() < 2) continue;
      if (most == nullptr || own.size() > most->size()) most = &own;
    }
    return most;
  }

  void make_room() {
    if (!strangers.empty()) return close(strangers.oldest_of_the_most());
    if (Sessions* among = heaviest()) close(among->front());
  }

  void close(HttpSession* session) {
    const std::shared_ptr<HttpSession> kept = sessions.at(session).session;
    kept->close();
  }

  // What a handler has not foreseen ends no server. Its connection goes no further, and is closed
  // by its client, or when room is made.
  void run() {
    for (;;) {
      try {
        context->run();
        return;
      } catch (const std::exception& error) {
        log_error("http_handler_failed", {{"reason", error.what()}});
      }
    }
  }

  void stop() {
    asio::post(*context, [this] {
      boost::system::error_code ignored;
      acceptor.close(ignored);
      retry.cancel();
      const std::map<HttpSession*, Kept> all = sessions;
      for (const auto& [key, kept] : all) kept.session->close();
      // Nothing is left to wait for: run() returns when the cut operations have ended.
    });
    if (thread.joinable()) thread.join();
  }

  HttpLimits limits;
  Handler handler;
  std::optional<ServiceGate> gate;  // instead of the handler
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  tcp::acceptor acceptor{*context};
  asio::steady_timer retry{*context};
  std::unique_ptr<HttpTls> tls;  // null = plain text
  HandshakeTurns turns{
      [this](std::function<void()> turn) { asio::post(*context, std::move(turn)); }};
  StrangerConnections<HttpSession*> strangers;
  std::map<std::string, Sessions> of_users;
  std::map<HttpSession*, Kept> sessions;
  std::thread thread;
  int port = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { impl_->stop(); }

int HttpServer::port() const { return impl_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, HttpLimits limits,
                                                      Handler handler, const TlsFiles& tls) {
  return start(std::make_unique<Impl>(std::move(limits), std::move(handler)), address, tls);
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, HttpLimits limits,
                                                      ServiceGate gate, const TlsFiles& tls) {
  return start(std::make_unique<Impl>(std::move(limits), std::move(gate)), address, tls);
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(std::unique_ptr<Impl> impl,
                                                      const std::string& address,
                                                      const TlsFiles& tls) {
  if (!tls.certificate.empty()) {
    Result<std::unique_ptr<HttpTls>> opened = HttpTls::open(tls);
    if (!opened.is_ok()) return opened.status();
    impl->tls = std::move(opened).value();
  }
  RETURN_IF_ERROR(impl->listen(address));
  impl->accept();
  impl->thread = std::thread([impl = impl.get()] { impl->run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace hai
