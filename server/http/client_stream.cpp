#include "server/http/client_stream.h"

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <type_traits>

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
  void close() override { stream_.close(); }
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

// The connection below TLS. While hands are shaken, what was read waits for its turn before it is
// looked at: that is what costs.
class TurnStream : public beast::tcp_stream {
 public:
  TurnStream(asio::ip::tcp::socket socket, HandshakeTurns& turns, std::string machine)
      : beast::tcp_stream(std::move(socket)), turns_(turns), machine_(std::move(machine)) {}

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& to, Handler&& handler) {
    if (!is_shaking_hands_) {
      return beast::tcp_stream::async_read_some(to, std::forward<Handler>(handler));
    }
    beast::tcp_stream::async_read_some(
        to, [this, done = copyable_handler(std::decay_t<Handler>(std::forward<Handler>(handler)))](
                beast::error_code error, size_t got) {
          if (!error && !socket().is_open()) error = asio::error::operation_aborted;
          if (error) return done(error, size_t{0});
          waiting_ = turns_.wait(machine_, [done, got](bool is_given_up) {
            if (is_given_up)
              return done(beast::error_code(asio::error::operation_aborted), size_t{0});
            done(beast::error_code(), got);
          });
        });
  }
  void hands_were_shaken() { is_shaking_hands_ = false; }
  void close() {
    beast::tcp_stream::close();
    if (is_shaking_hands_) turns_.give_up(waiting_);
  }

 private:
  HandshakeTurns& turns_;
  const std::string machine_;
  HandshakeTurns::Waiting waiting_;
  bool is_shaking_hands_ = true;
};

class TlsStream final : public ClientStream {
 public:
  TlsStream(asio::ip::tcp::socket socket, ConnectionTls tls)
      : context_(std::move(tls.context)),
        stream_(TurnStream(std::move(socket), *tls.turns, std::move(tls.machine)), *context_) {}

  beast::tcp_stream& bottom() override { return stream_.next_layer(); }
  void shake_hands(Then then) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [this, then = std::move(then)](Error error) {
                              stream_.next_layer().hands_were_shaken();
                              then(error);
                            });
  }
  void say_farewell(Then then) override { stream_.async_shutdown(std::move(then)); }
  void close() override { stream_.next_layer().close(); }
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
  beast::ssl_stream<TurnStream> stream_;
};

}  // namespace

std::unique_ptr<ClientStream> ClientStream::make(asio::ip::tcp::socket socket, ConnectionTls tls) {
  if (!tls.context) return std::make_unique<PlainStream>(std::move(socket));
  return std::make_unique<TlsStream>(std::move(socket), std::move(tls));
}

}  // namespace hai
