#pragma once
// A client's connection, in plain text or TLS, as Asio and Beast use streams: who reads and writes
// it is compiled once for both. Used on the HTTP server's thread. Included by http_session.cpp,
// service_session.cpp and beast_socket.cpp only.

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "server/http/connection_tls.h"
#include "server/http/copyable_handler.h"

namespace hai {

// Some pieces of memory: the first of a longer sequence, which is read or written by several calls.
template <typename Buffer>
class Pieces {
 public:
  static constexpr size_t kMax = 16;
  using value_type = Buffer;
  using const_iterator = const Buffer*;

  template <typename Buffers>
  explicit Pieces(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end && count_ < kMax; ++at) {
      const Buffer piece(*at);
      if (piece.size() > 0) pieces_[count_++] = piece;
    }
  }
  const_iterator begin() const { return pieces_.data(); }
  const_iterator end() const { return pieces_.data() + count_; }

 private:
  std::array<Buffer, kMax> pieces_;
  size_t count_ = 0;
};

class ClientStream {
 public:
  using Error = boost::system::error_code;
  using Then = std::function<void(Error)>;
  using executor_type = boost::beast::tcp_stream::executor_type;

  static std::unique_ptr<ClientStream> make(boost::asio::ip::tcp::socket socket, ConnectionTls tls);
  virtual ~ClientStream() = default;
  // The connection itself, which has the time limits of all that is done here.
  virtual boost::beast::tcp_stream& bottom() = 0;
  // TLS's handshake and its farewell, without which anybody could have cut off what was sent. In
  // plain text there is neither, and `then` is called at once.
  virtual void shake_hands(Then then) = 0;
  virtual void say_farewell(Then then) = 0;
  // Ends the connection at once, and what it waits for.
  virtual void close() = 0;
  // The end of a WebSocket's connection.
  virtual void tear_down(boost::beast::role_type role, Then then) = 0;

  executor_type get_executor() { return bottom().get_executor(); }
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& to) {
          read_some(Pieces<boost::asio::mutable_buffer>(to), copyable_handler(std::move(handler)));
        },
        token, buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& from) {
          write_some(Pieces<boost::asio::const_buffer>(from), copyable_handler(std::move(handler)));
        },
        token, buffers);
  }

 protected:
  using Done = std::function<void(Error, size_t)>;
  virtual void read_some(const Pieces<boost::asio::mutable_buffer>& to, Done done) = 0;
  virtual void write_some(const Pieces<boost::asio::const_buffer>& from, Done done) = 0;
};

// Both are found by Beast where a WebSocket ends.
inline void beast_close_socket(ClientStream& stream) { stream.close(); }
template <typename Handler>
void async_teardown(boost::beast::role_type role, ClientStream& stream, Handler&& handler) {
  stream.tear_down(role, copyable_handler(std::forward<Handler>(handler)));
}

}  // namespace hai
