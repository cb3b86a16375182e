#include "server/http/http_session.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <optional>

#include "common/gzip/gzip.h"
#include "common/host_port.h"
#include "common/log.h"
#include "server/http/beast_socket.h"
#include "server/http/beast_streams.h"
#include "server/http/client_stream.h"
#include "server/http/gzip.h"
#include "server/http/negotiation.h"
#include "server/http/problem.h"

namespace hai {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds kHearOut{1};
constexpr size_t kHearOutBytes = 4 << 20;
constexpr size_t kReadBytes = 16 << 10;

HttpRequest to_request(http::request<http::string_body>&& message, const std::string& peer) {
  HttpRequest request = head_of(message.base(), peer);
  request.body = std::move(message.body());
  return request;
}

// What a WebSocket's handshake reads.
http::request<http::string_body> request_of(const HttpRequest& request, const std::string& target) {
  http::request<http::string_body> message(http::verb::get, target, 11);
  for (const auto& [name, value] : request.headers) message.set(name, value);
  return message;
}

class BeastSession final : public HttpSession, public std::enable_shared_from_this<BeastSession> {
 public:
  BeastSession(std::shared_ptr<asio::io_context> context, tcp::socket socket, ConnectionTls tls,
               const HttpLimits& limits, const HttpServer::Handler& handler,
               HttpSessionEvents events)
      : context_(std::move(context)),
        transport_(ClientStream::make(std::move(socket), std::move(tls))),
        answer_timer_(tcp_.get_executor()),
        limits_(limits),
        handler_(handler),
        events_(std::move(events)) {
    beast::error_code error;
    const tcp::endpoint endpoint = tcp_.socket().remote_endpoint(error);
    if (!error) peer_ = plain_address(endpoint.address().to_string());
  }

  void start() override {
    tcp_.expires_after(limits_.tls_timeout);
    stream_.shake_hands([self = shared_from_this()](beast::error_code error) {
      error ? self->close() : self->read();
    });
  }

  void close() override {
    stream_.close();
    end();
  }

 private:
  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(limits_.header_bytes));
    parser_->body_limit(boost::none);  // until it is known who asks
    tcp_.expires_after(limits_.read_timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code error, size_t) {
                              error ? self->read_failed(error) : self->read_body();
                            });
  }

  void read_body() {
    if (is_ended_) return;  // cut meanwhile, to make room
    if (!is_known_) look_who_asks();
    if (parser_->is_done()) return was_read({});
    body_bytes_max_ = is_known_ ? limits_.body_bytes : limits_.strangers_body_bytes;
    if (parser_->content_length().value_or(0) > body_bytes_max_) return turn_away();
    parser_->body_limit(body_bytes_max_);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](beast::error_code error, size_t) { self->was_read(error); });
  }

  void look_who_asks() {
    const std::optional<std::string> user =
        limits_.who ? limits_.who(head_of(parser_->get().base(), peer_)) : "";
    if (!user) return;
    is_known_ = true;
    events_.known(this, *user);
  }

  void turn_away() {
    HttpRequest head = head_of(parser_->get().base(), peer_);
    if (limits_.turn_away && parse_target(text_of(parser_->get().target()), head)) {
      if (auto answer = limits_.turn_away(head)) {
        asked_ = {};
        keep_alive_ = false;
        return respond(std::move(*answer));
      }
    }
    read_failed(http::error::body_limit);
  }

  void was_read(beast::error_code error) {
    if (error) return read_failed(error);
    ++request_number_;
    http::request<http::string_body> message = parser_->release();
    keep_alive_ = message.keep_alive();
    version_ = message.version();
    const std::string target(text_of(message.target()));
    HttpRequest request = to_request(std::move(message), peer_);
    asked_ = negotiation_of(request);
    upgrade_.reset();
    if (is_for_socket(request)) upgrade_ = request_of(request, target);
    if (!parse_target(target, request)) {
      return respond(problem(invalid_argument("the request's address is malformed")));
    }
    tcp_.expires_never();
    arm_answer_timer();
    handle(request);
  }

  void handle(const HttpRequest& request) {
    try {
      handler_(request, responder());
    } catch (const std::exception& error) {
      // Of a library under the handler; one odd request must not end the server.
      log_error("http_handler_failed", {{"path", request.path}, {"reason", error.what()}});
      answered(request_number_,
               problem(Status(Code::internal, "the server failed on this request")));
    }
  }

  void read_failed(beast::error_code error) {
    asked_ = {};
    keep_alive_ = false;
    version_ = 11;
    if (error == http::error::header_limit) {
      return respond(problem(431, "headers_too_large",
                             fmt::format("headers may have {} bytes", limits_.header_bytes)));
    }
    if (error == http::error::body_limit) {
      return respond(
          problem(413, "body_too_large", fmt::format("a body may have {} bytes", body_bytes_max_)));
    }
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return respond(problem(invalid_argument("this is not HTTP/1.1: {}", error.message())));
    }
    close();
  }

  // An answer may come from any thread, late or twice; only the first to this request counts. Who
  // has yet to answer does not keep a connection that has ended.
  HttpRespond responder() {
    return [weak = weak_from_this(), number = request_number_](HttpResponse response) {
      post(weak, [number, response = std::move(response)](BeastSession& self) mutable {
        self.answered(number, std::move(response));
      });
    };
  }

  template <typename Callback>
  static void post(const std::weak_ptr<BeastSession>& weak, Callback callback) {
    auto self = weak.lock();
    if (!self) return;
    asio::post(self->tcp_.get_executor(), [weak, callback = std::move(callback)]() mutable {
      if (auto still = weak.lock()) callback(*still);
    });
  }

  void arm_answer_timer() {
    answer_timer_.expires_after(limits_.answer_timeout);
    answer_timer_.async_wait(
        [self = shared_from_this(), number = request_number_](beast::error_code error) {
          if (error) return;
          self->answered(number, problem(deadline_exceeded("the server did not answer in time; "
                                                           "ask again whether it was done")));
        });
  }

  void answered(int64_t number, HttpResponse response) {
    if (number != request_number_ || number == answered_number_ || is_ended_) return;
    answered_number_ = number;
    answer_timer_.cancel();
    if (response.render) response = rendered(response.render);
    if (!response.socket) negotiate(asked_, response);
    respond(std::move(response));
  }

  HttpResponse rendered(const std::function<HttpResponse()>& render) {
    try {
      return render();
    } catch (const std::exception& error) {
      log_error("http_render_failed", {{"reason", error.what()}});
      return problem(Status(Code::internal, "the server failed on this request"));
    }
  }

  // The connection is the socket's from here on.
  void open_socket(const std::function<void(std::shared_ptr<HttpSocket>)>& opened) {
    tcp_.expires_never();
    keep_alive_probes(tcp_.socket());
    accept_socket(context_, shared_from_this(), stream_, *std::exchange(upgrade_, std::nullopt),
                  opened);
  }

  void respond(HttpResponse response) {
    if (response.socket && upgrade_) return open_socket(response.socket);
    stream_source_ = std::move(response.stream);
    message_.emplace(static_cast<http::status>(response.status), version_);
    message_->set(http::field::server, "hai");
    message_->set(http::field::content_type, response.content_type);
    message_->set(http::field::cache_control, "no-store");
    message_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) {
      if (name == "Set-Cookie") {
        message_->insert(name, value);  // One does not replace another.
      } else {
        message_->set(name, value);
      }
    }
    if (stream_source_) {
      // Without chunks the end of the connection is the end of a streamed body.
      keep_alive_ = false;
      is_gzip_ = response.is_gzip;
      is_chunked_ = response.is_chunked && version_ == 11 && !asked_.is_head;
      if (is_gzip_ && !response.body.empty()) {
        const HttpChunk first = gzip_piece(response.body, gzip);
        if (!first) return close();
        response.body = *first;
      }
      message_->keep_alive(false);
      if (is_chunked_) return send_head(std::move(response.body));
      message_->body() = std::move(response.body);
    } else {
      message_->body() = std::move(response.body);
      message_->keep_alive(keep_alive_);
      message_->prepare_payload();
    }
    if (asked_.is_head) leave_out_body();
    tcp_.expires_after(limits_.write_timeout);
    http::async_write(
        stream_, *message_,
        [self = shared_from_this()](beast::error_code error, size_t) { self->was_written(error); });
  }

  void send_head(std::string first) {
    message_->chunked(true);
    head_.emplace(*message_);
    tcp_.expires_after(limits_.write_timeout);
    http::async_write_header(stream_, *head_,
                             [self = shared_from_this(), first = std::move(first)](
                                 beast::error_code error, size_t) mutable {
                               self->head_.reset();
                               self->message_.reset();
                               if (error) return self->close();
                               if (first.empty()) return self->stream_next();
                               self->send_chunk(std::move(first));
                             });
  }

  // The length stays: it is that of what GET would give.
  void leave_out_body() {
    message_->body().clear();
    stream_source_ = nullptr;
  }

  void was_written(beast::error_code error) {
    message_.reset();
    if (error && error != http::error::end_of_stream) return close();
    if (stream_source_) return stream_next();
    if (keep_alive_) return read();
    finish();
  }

  void stream_next() {
    tcp_.expires_never();
    HttpStream source = stream_source_;
    source([weak = weak_from_this()](HttpChunk chunk) {
      post(weak, [chunk = std::move(chunk)](BeastSession& self) mutable {
        self.stream_chunk(std::move(chunk));
      });
    });
  }

  void stream_chunk(HttpChunk chunk) {
    if (is_ended_) return;
    if (chunk && chunk->empty() && (is_chunked_ || is_gzip_)) return stream_next();
    if (chunk && is_gzip_) chunk = gzip_piece(*chunk, gzip);
    if (chunk.is_cut()) return close();  // no last chunk, and none of TLS's farewells
    if (chunk) return send_chunk(std::move(chunk));
    is_chunked_ ? send_last_chunk() : finish();
  }

  void send_chunk(HttpChunk chunk) {
    chunk_ = std::move(chunk);
    tcp_.expires_after(limits_.write_timeout);
    const auto sent = [self = shared_from_this()](beast::error_code error, size_t) {
      if (error) return self->close();
      self->stream_next();
    };
    if (is_chunked_) {
      asio::async_write(stream_, http::make_chunk(asio::buffer(*chunk_)), sent);
    } else {
      asio::async_write(stream_, asio::buffer(*chunk_), sent);
    }
  }

  void send_last_chunk() {
    tcp_.expires_after(limits_.write_timeout);
    asio::async_write(stream_, http::make_chunk_last(),
                      [self = shared_from_this()](beast::error_code error, size_t) {
                        error ? self->close() : self->finish();
                      });
  }

  // What was written still reaches the client, unlike after close(). One that still sends what
  // nobody wants is heard out for a moment: a reset would take the answer from him.
  void finish() {
    tcp_.expires_after(kHearOut);
    stream_.say_farewell([self = shared_from_this()](beast::error_code) { self->finish_tcp(); });
  }

  void finish_tcp() {
    beast::error_code ignored;
    tcp_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    if (!parser_ || parser_->is_done()) return close();
    tcp_.expires_after(kHearOut);
    hear_out(kHearOutBytes);
  }

  void hear_out(size_t bytes_max) {
    buffer_.clear();
    tcp_.async_read_some(buffer_.prepare(kReadBytes), [self = shared_from_this(), bytes_max](
                                                          beast::error_code error, size_t got) {
      if (error || got >= bytes_max) return self->close();
      self->hear_out(bytes_max - got);
    });
  }

  void end() {
    if (std::exchange(is_ended_, true)) return;
    answer_timer_.cancel();
    stream_source_ = nullptr;
    events_.ended(this);
  }

  const std::shared_ptr<asio::io_context> context_;  // outlives the socket, whoever drops us last
  const std::unique_ptr<ClientStream> transport_;
  ClientStream& stream_ = *transport_;
  beast::tcp_stream& tcp_ = stream_.bottom();
  asio::steady_timer answer_timer_;
  const HttpLimits& limits_;
  const HttpServer::Handler& handler_;
  HttpSessionEvents events_;
  std::string peer_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> message_;
  std::optional<http::response_serializer<http::string_body>> head_;  // of a body in chunks
  HttpStream stream_source_;
  bool is_chunked_ = false;
  bool is_gzip_ = false;
  HttpChunk chunk_{std::nullopt};
  Negotiation asked_;  // of the request being answered
  size_t body_bytes_max_ = 0;
  bool is_known_ = false;  // somebody known has asked over this connection
  int64_t request_number_ = 0;
  int64_t answered_number_ = 0;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool is_ended_ = false;
  std::optional<http::request<http::string_body>> upgrade_;  // of a client who wants a WebSocket
};

}  // namespace

std::shared_ptr<HttpSession> HttpSession::make(std::shared_ptr<asio::io_context> context,
                                               tcp::socket socket, ConnectionTls tls,
                                               const HttpLimits& limits,
                                               const HttpServer::Handler& handler,
                                               HttpSessionEvents events) {
  return std::make_shared<BeastSession>(std::move(context), std::move(socket), std::move(tls),
                                        limits, handler, std::move(events));
}

}  // namespace hai
