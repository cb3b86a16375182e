#include "server/http/client_stream.h"

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace hai {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

class PlainStream final : public ClientStream {
 public:
  explicit PlainStream(asio::ip::tcp::socket socket) : stream_(std::move(socket)) {}

  beast::tcp_stream& bottom() override { return stream_; }
  void shake_hands(Then then) override { then({}); }
  void say_farewell(Then then) override { then({}); }
  void tear_down(beast::role_type role, Then then) override {
    beast::websocket::async_teardown(role, stream_.socket(), std::move(then));
  }

 private:
  void read_some(const Pieces<asio::mutable_buffer>& to, Done done) override {
    stream_.async_read_some(to, std::move(done));
  }
  void write_some(const Pieces<asio::const_buffer>& from, Done done) override {
    stream_.async_write_some(from, std::move(done));
  }

  beast::tcp_stream stream_;
};

class TlsStream final : public ClientStream {
 public:
  TlsStream(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> tls)
      : context_(std::move(tls)), stream_(std::move(socket), *context_) {}

  beast::tcp_stream& bottom() override { return stream_.next_layer(); }
  void shake_hands(Then then) override {
    stream_.async_handshake(asio::ssl::stream_base::server, std::move(then));
  }
  void say_farewell(Then then) override { stream_.async_shutdown(std::move(then)); }
  void tear_down(beast::role_type, Then then) override { say_farewell(std::move(then)); }

 private:
  void read_some(const Pieces<asio::mutable_buffer>& to, Done done) override {
    stream_.async_read_some(to, std::move(done));
  }
  void write_some(const Pieces<asio::const_buffer>& from, Done done) override {
    stream_.async_write_some(from, std::move(done));
  }

  // That it began with; there may be a newer one.
  const std::shared_ptr<asio::ssl::context> context_;
  beast::ssl_stream<beast::tcp_stream> stream_;
};

}  // namespace

std::unique_ptr<ClientStream> ClientStream::make(asio::ip::tcp::socket socket,
                                                 std::shared_ptr<asio::ssl::context> tls) {
  if (!tls) return std::make_unique<PlainStream>(std::move(socket));
  return std::make_unique<TlsStream>(std::move(socket), std::move(tls));
}

}  // namespace hai
