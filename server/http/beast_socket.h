#pragma once
// HttpSocket over a connection of http_session.cpp, the only one who includes this. Keeps the
// session until the connection is gone.

#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <memory>
#include <utility>

#include "server/http/http_session.h"
#include "server/http/http_socket.h"

namespace hai {

// TLS as a layer below a WebSocket, with what ends it: of Beast's class clang 16 finds two.
class TlsLayer : public boost::beast::ssl_stream<boost::beast::tcp_stream> {
 public:
  using ssl_stream::ssl_stream;
};
template <typename Handler>
void async_teardown(boost::beast::role_type, TlsLayer& layer, Handler&& handler) {
  layer.async_shutdown(std::forward<Handler>(handler));
}
inline void teardown(boost::beast::role_type, TlsLayer& layer, boost::beast::error_code& error) {
  layer.shutdown(error);
}

template <typename Stream>
class BeastSocket final : public HttpSocket,
                          public std::enable_shared_from_this<BeastSocket<Stream>> {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;
  using Error = boost::beast::error_code;

  // `stream` is part of the session. On the session's thread, as `opened` is, which is told whether
  // the client was taken.
  BeastSocket(std::shared_ptr<boost::asio::io_context> context,
              std::shared_ptr<HttpSession> session, Stream& stream)
      : context_(std::move(context)), session_(std::move(session)), socket_(stream) {}

  void accept(Request request, std::function<void(bool)> opened) {
    namespace websocket = boost::beast::websocket;
    request_ = std::move(request);
    // Beast's own timers would outlive a connection that is cut. A client that is gone is noticed
    // by the kernel's probes (keep_alive_probes), one that does not read by who writes to it.
    socket_.set_option(websocket::stream_base::timeout{websocket::stream_base::none(),
                                                       websocket::stream_base::none(), false});
    socket_.read_message_max(kMessageBytesMax);
    socket_.async_accept(request_, [self = this->shared_from_this(), opened](Error error) {
      opened(!error);
      if (error) self->session_->close();
    });
  }

  void read(std::function<void(std::optional<SocketMessage>)> done) override {
    post([done = std::move(done)](BeastSocket& self) mutable {
      self.socket_.async_read(self.buffer_, [self = self.shared_from_this(),
                                             done = std::move(done)](Error error, size_t) {
        if (error) {
          self->session_->close();
          return done(std::nullopt);
        }
        SocketMessage message{boost::beast::buffers_to_string(self->buffer_.data()),
                              self->socket_.got_text()};
        self->buffer_.consume(self->buffer_.size());
        done(std::move(message));
      });
    });
  }

  void write(SocketMessage message, std::function<void(bool)> done) override {
    post([message = std::move(message), done = std::move(done)](BeastSocket& self) mutable {
      self.writing_ = std::move(message);
      self.socket_.text(self.writing_.is_text);
      self.socket_.async_write(boost::asio::buffer(self.writing_.bytes),
                               [self = self.shared_from_this(), done = std::move(done)](
                                   Error error, size_t) { done(!error); });
    });
  }

  void close() override {
    post([](BeastSocket& self) {
      self.socket_.async_close(
          boost::beast::websocket::close_code::normal,
          [self = self.shared_from_this()](Error) { self->session_->close(); });
    });
  }

  void cut() override {
    post([](BeastSocket& self) { self.session_->close(); });
  }

 private:
  // After the server has stopped nothing runs any more, and what was posted would be held for ever.
  template <typename Action>
  void post(Action action) {
    if (context_->stopped()) return;
    boost::asio::post(
        socket_.get_executor(),
        [self = this->shared_from_this(), action = std::move(action)]() mutable { action(*self); });
  }

  const std::shared_ptr<boost::asio::io_context> context_;
  const std::shared_ptr<HttpSession> session_;
  boost::beast::websocket::stream<Stream&> socket_;
  Request request_;
  boost::beast::flat_buffer buffer_;
  SocketMessage writing_;
};

}  // namespace hai
