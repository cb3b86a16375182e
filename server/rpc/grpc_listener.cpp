#include "server/rpc/grpc_listener.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <thread>

#include "common/log.h"
#include "common/tcp_listen.h"

namespace hai {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

// One that has said nothing yet, as far as we know.
struct Silent {
  Silent(tcp::socket accepted, std::string from)
      : socket(std::move(accepted)), timer(socket.get_executor()), address(std::move(from)) {}
  tcp::socket socket;
  asio::steady_timer timer;
  std::string address;
};

}  // namespace

struct GrpcListener::Impl {
  explicit Impl(ListenerLimits used) : limits(used), table(used.connections) {}

  void accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) {
        refused(error.message());
        return accept_later();
      }
      take(std::move(socket));
      table.is_full() ? accept_later() : accept();
    });
  }

  void refused(const std::string& why) {
    if (std::exchange(has_refused, true)) return;
    log_warning("grpc_connections_refused", {{"reason", why}, {"open", table.size()}});
  }

  // Out of file descriptors, or of the number we may have: turning at once would only burn a core.
  void accept_later() {
    pause.expires_after(kPause);
    pause.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  void take(tcp::socket socket) {
    boost::system::error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // It has left already.
    const std::string address = peer.address().to_string();
    if (!has_room(address)) return refused("too many connections; this one is of " + address);
    has_refused = false;
    socket.set_option(tcp::no_delay(true), error);
    socket.non_blocking(true, error);
    auto one = std::make_shared<Silent>(std::move(socket), address);
    table.size() < limits.at_once ? hand_over_socket(*one) : listen_to(std::move(one));
  }

  bool has_room(const std::string& address) {
    if (table.has_room(address)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look) return false;
    next_look = now + kPause;
    table.look();
    return table.has_room(address);
  }

  void listen_to(std::shared_ptr<Silent> one) {
    boost::system::error_code ignored;
    if (silent.size() >= limits.silent) silent.front()->socket.close(ignored);
    const auto place = silent.insert(silent.end(), one);
    one->timer.expires_after(limits.silent_time);
    one->timer.async_wait([one](boost::system::error_code error) {
      boost::system::error_code ignored;
      if (!error) one->socket.close(ignored);
    });
    one->socket.async_wait(tcp::socket::wait_read,
                           [this, one, place](boost::system::error_code error) {
                             silent.erase(place);
                             one->timer.cancel();
                             if (error || is_stopped || !one->socket.is_open()) return;
                             hand_over_socket(*one);
                           });
  }

  void hand_over_socket(Silent& one) {
    boost::system::error_code error;
    const int fd = one.socket.release(error);
    if (error) return;
    table.add(fd, one.address);
    hand_over(acceptor.native_handle(), fd);
  }

  void stop() {
    if (!thread.joinable()) return;
    asio::post(context, [this] {
      boost::system::error_code ignored;
      is_stopped = true;
      acceptor.close(ignored);
      pause.cancel();
      for (const auto& one : silent) one->socket.close(ignored);
    });
    thread.join();
  }

  const ListenerLimits limits;
  ConnectionTable table;
  HandOver hand_over;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::list<std::shared_ptr<Silent>> silent;  // the oldest first
  std::thread thread;
  std::chrono::steady_clock::time_point next_look;
  bool has_refused = false;  // said once, until one was taken again
  bool is_stopped = false;
};

GrpcListener::GrpcListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcListener::~GrpcListener() { impl_->stop(); }

Result<std::unique_ptr<GrpcListener>> GrpcListener::open(const std::string& address,
                                                         ListenerLimits limits) {
  auto impl = std::make_unique<Impl>(limits);
  RETURN_IF_ERROR(listen_on(impl->acceptor, address));
  return std::unique_ptr<GrpcListener>(new GrpcListener(std::move(impl)));
}

int GrpcListener::port() const { return impl_->acceptor.local_endpoint().port(); }

void GrpcListener::accept(HandOver hand_over) {
  impl_->hand_over = std::move(hand_over);
  impl_->accept();
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

void GrpcListener::stop() { impl_->stop(); }

}  // namespace hai
