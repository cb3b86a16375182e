#pragma once
// A connection to a port of a rank, as Asio and Beast use streams: the person's end of a way into
// it. The stream is used on the HTTP server's thread, what ShellPeer demands on the loop's; they
// meet by posting. Included by service_session.cpp only.

#include <atomic>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/loop.h"
#include "common/shell_messages.h"
#include "server/http/copyable_handler.h"
#include "server/http/service_gate.h"

namespace hai {

class ServiceTunnel : public ShellPeer, public std::enable_shared_from_this<ServiceTunnel> {
 public:
  using executor_type = boost::asio::io_context::executor_type;
  using Error = boost::system::error_code;
  static constexpr size_t kWindow = 256 << 10;  // bytes that may wait here, each way

  ServiceTunnel(Loop& loop, std::shared_ptr<boost::asio::io_context> context)
      : loop_(loop), context_(std::move(context)) {}

  // Once. `opened`: it leads there, or why it does not.
  void open(const ServiceGate& gate, const ServiceWay& way, const std::string& address,
            std::function<void(Result<v1::ShellStarted>)> opened);
  // Nobody needs it any more. What waits is told of it.
  void close();
  bool is_open() const { return is_started_ && !has_ended_; }
  // Why it has ended.
  const Status& why() const { return why_; }

  executor_type get_executor() const { return context_->get_executor(); }
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& to) {
          start_read(first_of(to), copyable_handler(std::move(handler)));
        },
        token, buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& from) {
          start_write(gather(from), copyable_handler(std::move(handler)));
        },
        token, buffers);
  }

  void read_next() override;
  void send(v1::ShellMessage message, std::function<void()> written) override;
  void finish(const Status& status) override;

 private:
  using Done = std::function<void(Error, size_t)>;

  template <typename Buffers>
  static boost::asio::mutable_buffer first_of(const Buffers& buffers) {
    for (auto at = boost::asio::buffer_sequence_begin(buffers);
         at != boost::asio::buffer_sequence_end(buffers); ++at) {
      const boost::asio::mutable_buffer buffer(*at);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }
  template <typename Buffers>
  static std::string gather(const Buffers& buffers) {
    std::string bytes(std::min(boost::asio::buffer_size(buffers), kShellPieceBytes), '\0');
    boost::asio::buffer_copy(boost::asio::buffer(bytes), buffers);
    return bytes;
  }

  // On the HTTP server's thread.
  void start_read(boost::asio::mutable_buffer to, Done done);
  void start_write(std::string bytes, Done done);
  void complete(Done done, Error error, size_t bytes);
  void take_input();
  void received(v1::ShellMessage& message);
  void ended(const Status& why);
  template <typename Action>
  void post_here(Action action);

  // On the loop's.
  void deliver();
  void go_on();
  void other_side_ended();

  Loop& loop_;
  const std::shared_ptr<boost::asio::io_context> context_;  // outlives the server's thread

  // Of the HTTP server's thread.
  std::function<void(Result<v1::ShellStarted>)> opened_;
  bool is_started_ = false;
  bool has_ended_ = false;
  Status why_;
  bool was_cut_ = false;  // by the service
  std::string input_;     // from the service, not read yet
  size_t input_read_ = 0;
  boost::asio::mutable_buffer reading_;
  Done read_done_;
  Done write_done_;     // waits until less is unsent
  size_t writing_ = 0;  // bytes of that
  size_t unsent_ = 0;   // bytes that the other end has not taken yet

  // Bytes that have come and were not read yet; the loop adds, the other thread takes away.
  std::atomic<size_t> unread_ = 0;

  // Of the loop's.
  struct Outgoing {
    v1::ShellMessage message;
    size_t bytes = 0;
  };
  Events events_;
  bool is_wanted_ = false;
  std::deque<Outgoing> outgoing_;
  std::function<void()> written_;  // waits until less is unread
  bool is_finished_ = false;
};

}  // namespace hai
