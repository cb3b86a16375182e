#include "server/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <thread>

#include "common/log.h"
#include "server/http/http_session.h"

namespace hai {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080"
Result<tcp::endpoint> resolve(asio::io_context& context, const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return invalid_argument("{} is not host:port", address);
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  tcp::resolver resolver(context);
  const auto found =
      resolver.resolve(host, address.substr(colon + 1),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return invalid_argument("cannot resolve {}: {}", address, error.message());
  }
  return found.begin()->endpoint();
}

}  // namespace

struct HttpServer::Impl {
  Impl(HttpLimits used_limits, Handler used_handler)
      : limits(used_limits), handler(std::move(used_handler)) {}

  Status listen(const std::string& address) {
    Result<tcp::endpoint> endpoint = resolve(*context, address);
    if (!endpoint.is_ok()) return endpoint.status();
    boost::system::error_code error;
    acceptor.open(endpoint.value().protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint.value(), error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
    if (error) return unavailable("cannot listen on {}: {}", address, error.message());
    port = acceptor.local_endpoint().port();
    return ok();
  }

  void accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return accept_later();
      if (sessions.size() < limits.connections) add(std::move(socket));
      accept();
    });
  }

  // Most likely the process is out of file descriptors: turning at once would only burn a core.
  void accept_later() {
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  void add(tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto session = HttpSession::make(context, std::move(socket), limits, handler,
                                     [this](HttpSession* ended) { sessions.erase(ended); });
    sessions[session.get()] = session;
    session->start();
  }

  void stop() {
    asio::post(*context, [this] {
      boost::system::error_code ignored;
      acceptor.close(ignored);
      retry.cancel();
      std::map<HttpSession*, std::shared_ptr<HttpSession>> all = sessions;
      for (const auto& [key, session] : all) session->close();
      // Nothing is left to wait for: run() returns when the cut operations have ended.
    });
    if (thread.joinable()) thread.join();
  }

  HttpLimits limits;
  Handler handler;
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  tcp::acceptor acceptor{*context};
  asio::steady_timer retry{*context};
  std::map<HttpSession*, std::shared_ptr<HttpSession>> sessions;
  std::thread thread;
  int port = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { impl_->stop(); }

int HttpServer::port() const { return impl_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, HttpLimits limits,
                                                      Handler handler) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler));
  RETURN_IF_ERROR(impl->listen(address));
  impl->accept();
  impl->thread = std::thread([impl = impl.get()] { impl->context->run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace hai
