#include "server/http/service_session.h"

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <optional>

#include "common/host_port.h"
#include "common/job_service.h"
#include "server/http/beast_streams.h"
#include "server/http/client_stream.h"
#include "server/http/problem.h"
#include "server/http/service_address.h"
#include "server/http/service_exchange.h"
#include "server/http/service_heads.h"

namespace hai {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Error = beast::error_code;

constexpr Duration kIdle = 75s;              // between two requests
constexpr Duration kOpening = 60s;           // longer than whoever opens a way into a rank tries it
constexpr Duration kWritePatience = 60s;     // for one piece to a client who does not read
constexpr Duration kServicePatience = 5min;  // for one piece to a service that does not read
constexpr Duration kGoodbye = 2s;
constexpr size_t kReadAheadBytes = 4 << 10;
constexpr uint32_t kAnswerHeaderBytes = 64 << 10;

class ServiceSession final : public HttpSession,
                             public std::enable_shared_from_this<ServiceSession> {
 public:
  ServiceSession(std::shared_ptr<asio::io_context> context, tcp::socket socket, ConnectionTls tls,
                 const HttpLimits& limits, const ServiceGate& gate, HttpSessionEvents events)
      : context_(std::move(context)),
        transport_(ClientStream::make(std::move(socket), std::move(tls))),
        patience_(*context_),
        write_patience_(*context_),
        service_patience_(*context_),
        limits_(limits),
        gate_(gate),
        events_(std::move(events)) {
    Error error;
    const tcp::endpoint endpoint = tcp_.socket().remote_endpoint(error);
    if (!error) peer_ = plain_address(endpoint.address().to_string());
  }

  void start() override {
    tcp_.expires_never();
    keep_alive_probes(tcp_.socket());
    wait_at_most(patience_, limits_.tls_timeout);
    stream_.shake_hands(
        [self = shared_from_this()](Error error) { error ? self->close() : self->read_head(); });
  }

  void close() override {
    if (std::exchange(is_ended_, true)) return;
    patience_.cancel();
    write_patience_.cancel();
    service_patience_.cancel();
    stream_.close();
    if (tunnel_) tunnel_->close();
    events_.ended(this);
  }

 private:
  using Self = std::shared_ptr<ServiceSession>;

  // Cuts the connection if nobody has called the timer off by then.
  void wait_at_most(asio::steady_timer& timer, Duration time) {
    timer.expires_after(time);
    timer.async_wait([weak = weak_from_this()](Error error) {
      if (error) return;
      if (const Self self = weak.lock()) self->close();
    });
  }

  void read_head() {
    request_.emplace();
    request_->header_limit(static_cast<uint32_t>(limits_.header_bytes));
    request_->body_limit(boost::none);
    wait_at_most(patience_, kIdle);
    http::async_read_header(
        stream_, buffer_, *request_,
        [self = shared_from_this()](Error error, size_t) { self->head_was_read(error); });
  }

  void head_was_read(Error error) {
    if (is_ended_) return;
    patience_.cancel();
    if (error) {
      const bool is_spoken =
          error.category() == make_error_code(http::error::bad_method).category();
      if (!is_spoken || error == http::error::end_of_stream ||
          error == http::error::partial_message)
        return close();
      return answer(problem(invalid_argument("this is not HTTP/1.1: {}", error.message())));
    }
    head_ = head_of(request_->get().base(), peer_);
    head_.target = text_of(request_->get().target());  // its escapes are for the service
    if (!head_.target.starts_with('/'))
      return answer(problem(invalid_argument("the request's address is malformed")));
    std::variant<ServiceWay, HttpResponse> judged = gate_.judge(head_);
    if (auto* response = std::get_if<HttpResponse>(&judged)) return answer(std::move(*response));
    const ServiceWay way = std::get<ServiceWay>(std::move(judged));
    if (!std::exchange(is_known_, true)) events_.known(this, way.user);
    is_reused_ = tunnel_ && tunnel_->is_open() && way == way_;
    way_ = way;
    is_reused_ ? forward() : open_tunnel();
  }

  void open_tunnel() {
    if (tunnel_) tunnel_->close();
    from_service_.clear();
    is_reused_ = false;
    tunnel_ = std::make_shared<ServiceTunnel>(gate_.loop, context_);
    wait_at_most(patience_, kOpening);
    tunnel_->open(
        gate_, way_, peer_,
        [weak = weak_from_this(), tunnel = tunnel_.get()](Result<v1::ShellStarted> started) {
          const Self self = weak.lock();
          if (self && !self->is_ended_ && self->tunnel_.get() == tunnel)
            self->tunnel_opened(started);
        });
  }

  void tunnel_opened(const Result<v1::ShellStarted>& started) {
    patience_.cancel();
    if (!started.is_ok()) return answer(gate_.problem(started.status(), head_));
    const Result<JobService> service = parse_service(started.value().service());
    if (!service.is_ok()) return answer(gate_.problem(service.status(), head_));
    if (service.value().kind != JobService::Kind::http) {
      return answer(gate_.problem(
          invalid_argument("{} of job {} speaks no HTTP: `hai forward {} {}`", way_.service,
                           started.value().job(), started.value().job(), way_.service),
          head_));
    }
    const std::string path = service_path({started.value().job()}, way_.service);
    place_ = {.prefix = path.substr(0, path.size() - 1), .is_cut_off = !service.value().keeps_path};
    // What a service links to is below the number of the job, whatever name led here.
    if (std::to_string(started.value().job()) != way_.job)
      return answer(redirection(place_.prefix + way_.rest));
    forward();
  }

  // Whatever is under way holds its exchange, and goes on for nothing when the session has another
  // one.
  using Exchange = ServiceExchange;
  using ExchangePtr = std::shared_ptr<Exchange>;
  bool is_over(const ExchangePtr& exchange) const { return is_ended_ || exchange != exchange_; }

  // The head goes first; then the body that way and the answer this way, at once.
  void forward() {
    auto exchange = exchange_ = std::make_shared<Exchange>();
    exchange->tunnel = tunnel_;
    fill_request(*exchange);
    exchange->to_service.emplace(exchange->request);
    exchange->to_service->split(true);
    // Nothing is read of the client until the service has agreed.
    if (exchange->is_upgrade) wait_at_most(patience_, kOpening);
    begin_service_write();
    http::async_write_header(*exchange->tunnel, *exchange->to_service,
                             [self = shared_from_this(), exchange](Error error, size_t) {
                               if (self->is_over(exchange)) return;
                               self->service_patience_.cancel();
                               if (error) return self->service_failed(exchange);
                               self->read_body(exchange);
                               self->read_answer(exchange);
                             });
  }

  void fill_request(Exchange& exchange) {
    const auto& asked = request_->get();
    exchange.request.base() = asked.base();
    // One with a body could not be heard and passed on at once.
    exchange.is_upgrade = beast::websocket::is_upgrade(asked) && request_->is_done();
    mend_request(exchange.request.base(), head_, way_, place_, gate_.scheme);
    if (exchange.is_upgrade) set_upgrade(exchange.request.base());
  }

  // The body of the request.

  void read_body(const ExchangePtr& exchange) {
    if (request_->is_done()) return write_body(exchange, 0);
    auto& body = request_->get().body();
    body.data = exchange->asked_piece.data();
    body.size = exchange->asked_piece.size();
    is_reading_ = true;
    http::async_read_some(
        stream_, buffer_, *request_, [self = shared_from_this(), exchange](Error error, size_t) {
          self->is_reading_ = false;
          if (self->is_leaving_) return self->hear_out();
          if (self->is_over(exchange)) return;
          if (error && error != http::error::need_buffer) return self->close();
          self->write_body(exchange,
                           exchange->asked_piece.size() - self->request_->get().body().size);
        });
  }

  void write_body(const ExchangePtr& exchange, size_t bytes) {
    const bool is_last = request_->is_done();
    if (bytes == 0 && !is_last) return read_body(exchange);
    if (exchange->to_service->is_done()) return was_asked(exchange);
    auto& body = exchange->request.body();
    body.data = bytes == 0 ? nullptr : exchange->asked_piece.data();
    body.size = bytes;
    body.more = !is_last;
    begin_service_write();
    http::async_write(*exchange->tunnel, *exchange->to_service,
                      [self = shared_from_this(), exchange, is_last](Error error, size_t) {
                        if (self->is_over(exchange)) return;
                        self->service_patience_.cancel();
                        // Who answers without hearing all has answered all the same.
                        if (error && error != http::error::need_buffer) return;
                        is_last ? self->was_asked(exchange) : self->read_body(exchange);
                      });
  }

  void was_asked(const ExchangePtr& exchange) {
    exchange->is_asked = true;
    if (!exchange->is_upgrade) watch_client();
  }

  // While the service thinks: a client who has gone needs no answer. What he sends meanwhile is of
  // his next request.
  void watch_client() {
    if (is_reading_ || buffer_.size() > kReadAheadBytes) return;
    is_reading_ = true;
    stream_.async_read_some(buffer_.prepare(kReadAheadBytes),
                            [self = shared_from_this()](Error error, size_t bytes) {
                              self->is_reading_ = false;
                              if (self->is_ended_) return;
                              if (error) return self->close();
                              if (self->is_leaving_) return self->hear_out();
                              self->buffer_.commit(bytes);
                              if (std::exchange(self->is_next_due_, false)) self->read_head();
                            });
  }

  // The answer.

  void read_answer(const ExchangePtr& exchange) {
    exchange->answer = {};
    auto& parser = exchange->parser.emplace();
    parser.header_limit(kAnswerHeaderBytes);
    parser.body_limit(boost::none);
    if (head_.method == "HEAD") parser.skip(true);
    http::async_read_header(*exchange->tunnel, from_service_, parser,
                            [self = shared_from_this(), exchange](Error error, size_t) {
                              if (self->is_over(exchange)) return;
                              error ? self->service_failed(exchange) : self->answer_began(exchange);
                            });
  }

  // Before anything of an answer came. A connection that was kept may have been closed just then by
  // the service, which has not seen the request: it gets it by a new one, if that is all of it.
  void service_failed(const ExchangePtr& exchange) {
    const bool has_body = !request_->is_done() || head_.headers.contains("content-length") ||
                          head_.headers.contains("transfer-encoding");
    if (is_reused_ && !has_body && (head_.method == "GET" || head_.method == "HEAD"))
      return open_tunnel();
    const Status& why = exchange->tunnel->why();
    const bool is_told = !why.is_ok() && why.code() != Code::cancelled;
    answer(gate_.problem(
        is_told ? why : unavailable("{} closed the connection without an answer", way_.service),
        head_));
  }

  void answer_began(const ExchangePtr& exchange) {
    exchange->answer.base() = exchange->parser->get().base();
    const int status = static_cast<int>(exchange->parser->get().result_int());
    const bool is_switch = status == 101 && exchange->is_upgrade;
    if (status == 101 && !is_switch) return service_failed(exchange);
    if (exchange->is_upgrade) patience_.cancel();
    mend_answer(exchange->answer.base(), head_.header("host"), place_);
    if (is_switch) set_upgrade(exchange->answer.base());
    if (status >= 200) {
      exchange->decide_what_is_kept(request_->get().version() < 11, request_->get().keep_alive());
    }
    exchange->to_client.emplace(exchange->answer);
    exchange->to_client->split(true);
    begin_write();
    http::async_write_header(
        stream_, *exchange->to_client,
        [self = shared_from_this(), exchange, status, is_switch](Error error, size_t) {
          if (!self->end_write(error)) return;
          if (is_switch) return self->splice(exchange);
          if (status < 200) return self->read_answer(exchange);  // "100 Continue", or the like
          const bool has_body = self->head_.method != "HEAD" && status != 204 && status != 304;
          has_body ? self->read_answers_body(exchange) : self->exchange_done(exchange);
        });
  }

  void read_answers_body(const ExchangePtr& exchange) {
    if (exchange->parser->is_done()) return write_answers_body(exchange, 0);
    auto& body = exchange->parser->get().body();
    body.data = exchange->answer_piece.data();
    body.size = exchange->answer_piece.size();
    http::async_read_some(
        *exchange->tunnel, from_service_, *exchange->parser,
        [self = shared_from_this(), exchange](Error error, size_t) {
          if (self->is_over(exchange)) return;
          // Cut off: without the last piece, so that the client sees it, too.
          if (error && error != http::error::need_buffer) return self->close();
          self->write_answers_body(
              exchange, exchange->answer_piece.size() - exchange->parser->get().body().size);
        });
  }

  void write_answers_body(const ExchangePtr& exchange, size_t bytes) {
    const bool is_last = exchange->parser->is_done();
    if (bytes == 0 && !is_last) return read_answers_body(exchange);
    if (exchange->to_client->is_done()) return exchange_done(exchange);
    auto& body = exchange->answer.body();
    body.data = bytes == 0 ? nullptr : exchange->answer_piece.data();
    body.size = bytes;
    body.more = !is_last;
    begin_write();
    http::async_write(stream_, *exchange->to_client,
                      [self = shared_from_this(), exchange, is_last](Error error, size_t) {
                        if (error == http::error::need_buffer) error = {};
                        if (!self->end_write(error)) return;
                        is_last ? self->exchange_done(exchange) : self->read_answers_body(exchange);
                      });
  }

  void exchange_done(const ExchangePtr& exchange) {
    if (!exchange->is_service_kept) exchange->tunnel->close();
    exchange_.reset();
    if (!exchange->is_kept || !exchange->is_asked) return say_goodbye();
    wait_at_most(patience_, kIdle);
    if (is_reading_) {
      is_next_due_ = true;
      return;
    }
    read_head();
  }

  // An answer of our own; the connection ends with it, as what is left of the request is not read.
  void answer(HttpResponse response) {
    if (tunnel_) tunnel_->close();
    own_.emplace(own_answer(std::move(response), head_.method == "HEAD"));
    begin_write();
    http::async_write(stream_, *own_, [self = shared_from_this()](Error error, size_t) {
      if (error == http::error::end_of_stream) error = {};
      if (self->end_write(error)) self->say_goodbye();
    });
  }

  // What was written still reaches the client, who may be sending what nobody reads.
  void say_goodbye() {
    if (tunnel_) tunnel_->close();
    exchange_.reset();
    service_patience_.cancel();
    is_leaving_ = true;
    wait_at_most(patience_, kGoodbye);
    if (is_reading_) return hear_out();  // the farewell of TLS reads, too
    stream_.say_farewell([self = shared_from_this()](Error) { self->hear_out(); });
  }

  void hear_out() {
    if (is_ended_) return;
    Error ignored;
    tcp_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    if (is_reading_) return;  // who reads goes on with this
    tcp_.async_read_some(asio::buffer(heard_), [self = shared_from_this()](Error error, size_t) {
      error ? self->close() : self->hear_out();
    });
  }

  // After a change of protocol: bytes as they come, both ways, until either side ends.

  void splice(const ExchangePtr& exchange) {
    to_service(exchange, take_all(buffer_));
    to_client(exchange, take_all(from_service_));
  }

  void to_service(const ExchangePtr& exchange, std::string bytes) {
    if (bytes.empty()) return hear_client(exchange);
    auto piece = std::make_shared<const std::string>(std::move(bytes));
    begin_service_write();
    asio::async_write(*exchange->tunnel, asio::buffer(*piece),
                      [self = shared_from_this(), exchange, piece](Error error, size_t) {
                        if (self->is_over(exchange)) return;
                        self->service_patience_.cancel();
                        error ? self->close() : self->hear_client(exchange);
                      });
  }

  void hear_client(const ExchangePtr& exchange) {
    is_reading_ = true;
    stream_.async_read_some(asio::buffer(exchange->asked_piece),
                            [self = shared_from_this(), exchange](Error error, size_t bytes) {
                              self->is_reading_ = false;
                              if (self->is_leaving_) return self->hear_out();
                              if (self->is_over(exchange)) return;
                              if (error) return self->close();
                              self->to_service(exchange, {exchange->asked_piece.data(), bytes});
                            });
  }

  void to_client(const ExchangePtr& exchange, std::string bytes) {
    // TLS makes of an empty write a read, which must not meet another one.
    if (bytes.empty()) return hear_service(exchange);
    auto piece = std::make_shared<const std::string>(std::move(bytes));
    begin_write();
    asio::async_write(stream_, asio::buffer(*piece),
                      [self = shared_from_this(), exchange, piece](Error error, size_t) {
                        if (self->end_write(error)) self->hear_service(exchange);
                      });
  }

  void hear_service(const ExchangePtr& exchange) {
    exchange->tunnel->async_read_some(
        asio::buffer(exchange->answer_piece),
        [self = shared_from_this(), exchange](Error error, size_t bytes) {
          if (self->is_over(exchange)) return;
          if (error) return self->say_goodbye();
          self->to_client(exchange, {exchange->answer_piece.data(), bytes});
        });
  }

  // A service that stands still must not hold its connections for ever.
  void begin_service_write() { wait_at_most(service_patience_, kServicePatience); }
  void begin_write() { wait_at_most(write_patience_, kWritePatience); }
  // Whether to go on.
  bool end_write(Error error) {
    write_patience_.cancel();
    if (is_ended_) return false;
    if (error) close();
    return !error;
  }

  const std::shared_ptr<asio::io_context> context_;  // outlives the socket, whoever drops us last
  const std::unique_ptr<ClientStream> transport_;
  ClientStream& stream_ = *transport_;
  beast::tcp_stream& tcp_ = stream_.bottom();
  asio::steady_timer patience_;
  asio::steady_timer write_patience_;
  asio::steady_timer service_patience_;
  const HttpLimits& limits_;
  const ServiceGate& gate_;
  HttpSessionEvents events_;
  std::string peer_;
  bool is_known_ = false;
  bool is_ended_ = false;

  // The request under way.
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> request_;
  HttpRequest head_;
  ServiceWay way_;
  ServicePlace place_;
  std::shared_ptr<ServiceTunnel> tunnel_;
  beast::flat_buffer from_service_;
  ExchangePtr exchange_;
  bool is_reused_ = false;    // the tunnel is one that has carried others
  bool is_reading_ = false;   // from the client
  bool is_leaving_ = false;   // all is said; what still comes is not wanted
  bool is_next_due_ = false;  // his next request, once he has sent something
  std::optional<http::response<http::string_body>> own_;
  std::array<char, kReadAheadBytes> heard_{};
};

}  // namespace

std::shared_ptr<HttpSession> make_service_session(std::shared_ptr<asio::io_context> context,
                                                  tcp::socket socket, ConnectionTls tls,
                                                  const HttpLimits& limits, const ServiceGate& gate,
                                                  HttpSessionEvents events) {
  return std::make_shared<ServiceSession>(std::move(context), std::move(socket), std::move(tls),
                                          limits, gate, std::move(events));
}

}  // namespace hai
