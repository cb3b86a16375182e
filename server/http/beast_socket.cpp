#include "server/http/beast_socket.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <utility>

namespace hai {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using Error = beast::error_code;
using Request = beast::http::request<beast::http::string_body>;

class BeastSocket final : public HttpSocket, public std::enable_shared_from_this<BeastSocket> {
 public:
  BeastSocket(std::shared_ptr<boost::asio::io_context> context,
              std::shared_ptr<HttpSession> session, ClientStream& stream, Request request)
      : context_(std::move(context)),
        session_(std::move(session)),
        socket_(stream),
        request_(std::move(request)) {}

  void accept(std::function<void(std::shared_ptr<HttpSocket>)> opened) {
    // Beast's own timers would outlive a connection that is cut. A client that is gone is noticed
    // by the kernel's probes (keep_alive_probes), one that does not read by who writes to it.
    socket_.set_option(websocket::stream_base::timeout{websocket::stream_base::none(),
                                                       websocket::stream_base::none(), false});
    socket_.read_message_max(kMessageBytesMax);
    socket_.async_accept(request_, [self = shared_from_this(), opened](Error error) {
      error ? self->session_->close() : opened(self);
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
        SocketMessage message{beast::buffers_to_string(self->buffer_.data()),
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
          websocket::close_code::normal,
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
        [self = shared_from_this(), action = std::move(action)]() mutable { action(*self); });
  }

  const std::shared_ptr<boost::asio::io_context> context_;
  const std::shared_ptr<HttpSession> session_;
  // Without compression, which is not offered to clients.
  websocket::stream<ClientStream&, false> socket_;
  const Request request_;
  beast::flat_buffer buffer_;
  SocketMessage writing_;
};

}  // namespace

void accept_socket(std::shared_ptr<boost::asio::io_context> context,
                   std::shared_ptr<HttpSession> session, ClientStream& stream, Request request,
                   std::function<void(std::shared_ptr<HttpSocket>)> opened) {
  std::make_shared<BeastSocket>(std::move(context), std::move(session), stream, std::move(request))
      ->accept(std::move(opened));
}

}  // namespace hai
