#include "server/rpc/grpc_listener.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "common/log.h"
#include "common/tcp_listen.h"
#include "server/api/log_limit.h"

namespace hai {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kPause = std::chrono::milliseconds(20);
// Where nobody can prove anything, what has a connection is done within a moment.
constexpr size_t kStrangerLooks = 5;
// Its thread says so often that it turns, and is in trouble when it has not for so long.
constexpr auto kBeat = std::chrono::seconds(1);
constexpr auto kBeatsMissing = std::chrono::seconds(10);
constexpr auto kTroubleLasts = std::chrono::seconds(10);
constexpr auto kLookPause = std::chrono::milliseconds(250);  // a look is 20,000 system calls

// One that has said nothing yet, as far as we know.
struct Silent {
  Silent(tcp::socket accepted, Origin from)
      : socket(std::move(accepted)), timer(socket.get_executor()), peer(std::move(from)) {}
  tcp::socket socket;
  asio::steady_timer timer;
  Origin peer;
};

}  // namespace

struct GrpcListener::Impl {
  Impl(ListenerLimits used, std::shared_ptr<KnownPeers> used_known)
      : limits(std::move(used)), known(std::move(used_known)), table(limits.connections, *known) {}

  void accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) {
        refused(error.message());
        set_trouble(error.message());
        return accept_later();
      }
      const bool is_taken = take(std::move(socket));
      // What one machine has used up is no reason to let others wait.
      is_taken || !table.is_full() ? accept() : accept_later();
    });
  }

  void beat() {
    beat_timer.expires_after(kBeat);
    beat_timer.async_wait([this](boost::system::error_code error) {
      if (error || is_stopped) return;
      {
        const std::lock_guard lock(mutex);
        turned_at = std::chrono::steady_clock::now();
      }
      beat();
    });
  }

  void set_trouble(std::string why) {
    const std::lock_guard lock(mutex);
    trouble = std::move(why);
    trouble_at = std::chrono::steady_clock::now();
  }

  std::string trouble_now() const {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex);
    // Whoever goes by it sends nobody any more, whose success would end it.
    if (!trouble.empty() && now - trouble_at < kTroubleLasts)
      return "gRPC takes no connections: " + trouble;
    if (now - turned_at < kBeatsMissing) return "";
    return "gRPC takes no connections: the thread that accepts them stands still";
  }

  void refused(const std::string& why) {
    const auto left_out = refusals.next();
    if (!left_out) return;
    log_warning("grpc_connections_refused",
                {{"reason", why}, {"open", table.size()}, {"left_out", *left_out}});
  }

  // Out of file descriptors, or of the number we may have: turning at once would only burn a core.
  void accept_later() {
    pause.expires_after(kPause);
    pause.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  // false: there is no room for more.
  bool take(tcp::socket socket) {
    boost::system::error_code error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return true;  // It has left already.
    socket.set_option(tcp::no_delay(true), error);
    socket.non_blocking(true, error);
    auto one = std::make_shared<Silent>(std::move(socket),
                                        origin_of(from.address().to_string(), from.port()));
    if (table.size() < limits.at_once) return hand_over_socket(*one);
    listen_to(std::move(one));
    return true;
  }

  bool has_room(const Origin& peer) {
    if (table.has_room(peer)) return true;
    if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
      next_look = now + kLookPause;
      table.look();
      if (table.has_room(peer)) return true;
    }
    return table.make_room(peer);
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

  // Its place is looked for only now: many may have been silent at once.
  bool hand_over_socket(Silent& one) {
    if (!has_room(one.peer)) {
      if (table.is_full()) set_trouble("all that it may have are in use");
      refused("too many connections, and all have proved who they are; this one is of " +
              one.peer.machine);
      return false;
    }
    boost::system::error_code error;
    const int fd = one.socket.release(error);
    if (error) return true;
    table.add(fd, one.peer);
    set_trouble("");
    hand_over(acceptor.native_handle(), fd);
    return true;
  }

  void look_at_strangers() {
    stranger_timer.expires_after(limits.stranger_look);
    stranger_timer.async_wait([this](boost::system::error_code error) {
      if (error || is_stopped) return;
      if (limits.strangers_end_soon()) {
        if (newest.size() == kStrangerLooks) {
          table.end_strangers_until(newest.front());
          newest.pop_front();
        }
        newest.push_back(table.last_number());
      } else {
        newest.clear();
      }
      look_at_strangers();
    });
  }

  void stop() {
    if (!thread.joinable()) return;
    asio::post(context, [this] {
      boost::system::error_code ignored;
      is_stopped = true;
      acceptor.close(ignored);
      pause.cancel();
      stranger_timer.cancel();
      beat_timer.cancel();
      for (const auto& one : silent) one->socket.close(ignored);
    });
    thread.join();
  }

  const ListenerLimits limits;
  const std::shared_ptr<KnownPeers> known;
  ConnectionTable table;
  HandOver hand_over;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  asio::steady_timer stranger_timer{context};
  asio::steady_timer beat_timer{context};
  std::deque<uint64_t> newest;                // the last connection at each of the last looks
  std::list<std::shared_ptr<Silent>> silent;  // the oldest first
  std::thread thread;
  std::chrono::steady_clock::time_point next_look;
  LogLimit refusals{1};
  bool is_stopped = false;
  mutable std::mutex mutex;
  std::string trouble;  // of the last connection that wanted in; "" = it was let in
  std::chrono::steady_clock::time_point trouble_at;
  std::chrono::steady_clock::time_point turned_at = std::chrono::steady_clock::now();
};

GrpcListener::GrpcListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcListener::~GrpcListener() { impl_->stop(); }

Result<std::unique_ptr<GrpcListener>> GrpcListener::open(const std::string& address,
                                                         ListenerLimits limits,
                                                         std::shared_ptr<KnownPeers> known) {
  if (!known) known = std::make_shared<KnownPeers>();
  auto impl = std::make_unique<Impl>(std::move(limits), std::move(known));
  RETURN_IF_ERROR(listen_on(impl->acceptor, address));
  return std::unique_ptr<GrpcListener>(new GrpcListener(std::move(impl)));
}

int GrpcListener::port() const { return impl_->acceptor.local_endpoint().port(); }

void GrpcListener::accept(HandOver hand_over) {
  impl_->hand_over = std::move(hand_over);
  impl_->accept();
  impl_->beat();
  if (impl_->limits.strangers_end_soon) impl_->look_at_strangers();
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

void GrpcListener::stop() { impl_->stop(); }

std::string GrpcListener::trouble() const { return impl_->trouble_now(); }

}  // namespace hai
