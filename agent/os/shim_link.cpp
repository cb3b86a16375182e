#include "agent/os/shim_link.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "agent/os/shim_process.h"
#include "agent/os/status_json.h"
#include "common/log.h"

namespace hai {

namespace asio = boost::asio;

namespace {

constexpr Duration kConnectRetryMin = 2ms;
constexpr Duration kConnectRetryMax = 1s;
constexpr Duration kSilenceMax = 60s;
constexpr size_t kOutgoingBytesMax =
    64 << 10;  // of requests the shim has not read; a live one reads at once
constexpr size_t kReadBytes = 16 << 10;

}  // namespace

struct ShimLink::Impl : std::enable_shared_from_this<ShimLink::Impl> {
  Impl(asio::io_context& context, RankDirectory rank, std::string path, ShimListener callbacks)
      : socket(context),
        timer(context),
        directory(std::move(rank)),
        socket_path(std::move(path)),
        listener(std::move(callbacks)) {}

  void connect();
  void connect_later();
  void connected();
  void disconnected();
  void read();
  void take_lines();
  void write();

  asio::local::stream_protocol::socket socket;
  asio::steady_timer timer;  // of the next try, or of the silence after it
  RankDirectory directory;
  std::string socket_path;
  ShimListener listener;
  Duration retry_after = kConnectRetryMin;
  bool is_open = true;  // false: closed by our owner, or the shim is gone
  bool is_connected = false;
  std::array<char, kReadBytes> chunk;
  std::string input;
  std::string waiting;   // lines to send after the write in flight
  std::string outgoing;  // of the write in flight
};

void ShimLink::Impl::connect() {
  if (!is_open) return;
  socket.async_connect(socket_path, [self = shared_from_this()](boost::system::error_code error) {
    if (!self->is_open) return;
    if (error) return self->disconnected();
    self->connected();
  });
}

// The kernel accepts for a shim that hangs: only its first line proves that it works.
void ShimLink::Impl::connected() {
  is_connected = true;
  timer.expires_after(kSilenceMax);
  timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (error) return;
    log_error("shim_does_not_answer",
              {{"rank_directory", self->directory.path}, {"for", kSilenceMax}});
    kill_shim(self->directory);
  });
  read();
  listener.connected();
}

void ShimLink::Impl::disconnected() {
  boost::system::error_code ignored;
  socket.close(ignored);
  timer.cancel();
  is_connected = false;
  input.clear();
  waiting.clear();
  outgoing.clear();
  if (is_shim_alive(directory)) return connect_later();
  is_open = false;
  // A local copy: the callback may well destroy us.
  const auto gone = std::move(listener.gone);
  gone();
}

void ShimLink::Impl::connect_later() {
  timer.expires_after(retry_after);
  retry_after = std::min(retry_after * 2, kConnectRetryMax);
  timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (!error) self->connect();
  });
}

void ShimLink::Impl::read() {
  socket.async_read_some(asio::buffer(chunk),
                         [self = shared_from_this()](boost::system::error_code error, size_t got) {
                           if (!self->is_open) return;
                           if (error) return self->disconnected();
                           self->retry_after = kConnectRetryMin;
                           self->timer.cancel();
                           self->input.append(self->chunk.data(), got);
                           if (self->input.size() > kStatusLineBytesMax * 2)
                             return self->disconnected();
                           self->take_lines();
                           if (self->is_open && self->is_connected) self->read();
                         });
}

void ShimLink::Impl::take_lines() {
  while (is_open) {
    const size_t newline = input.find('\n');
    if (newline == std::string::npos) return;
    const std::string line = input.substr(0, newline);
    input.erase(0, newline + 1);
    const Result<std::optional<RankStatus>> status = parse_status_line(line);
    if (!status.is_ok()) {
      log_warning("shim_said_nonsense",
                  {{"rank_directory", directory.path}, {"error", status.status()}});
    } else if (status.value()) {
      listener.status(*status.value());
    }
  }
}

void ShimLink::Impl::write() {
  if (!outgoing.empty() || waiting.empty() || !is_connected) return;
  outgoing = std::move(waiting);
  waiting.clear();
  asio::async_write(socket, asio::buffer(outgoing),
                    [self = shared_from_this()](boost::system::error_code error, size_t) {
                      // What is wrong with the connection the reader sees too, and acts on it.
                      if (error || !self->is_open) return;
                      self->outgoing.clear();
                      self->write();
                    });
}

ShimLink::ShimLink(asio::io_context& context, RankDirectory directory, std::string socket_path,
                   ShimListener listener)
    : impl_(std::make_shared<Impl>(context, std::move(directory), std::move(socket_path),
                                   std::move(listener))) {
  asio::post(context, [impl = impl_] { impl->connect(); });
}

ShimLink::~ShimLink() {
  impl_->is_open = false;
  boost::system::error_code ignored;
  impl_->socket.close(ignored);
  impl_->timer.cancel();
}

void ShimLink::send(std::string line) {
  if (!impl_->is_connected || impl_->waiting.size() > kOutgoingBytesMax) return;
  impl_->waiting += line;
  impl_->waiting += '\n';
  impl_->write();
}

}  // namespace hai
