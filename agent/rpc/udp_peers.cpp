#include "agent/rpc/udp_peers.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <map>
#include <random>

#include "agent/rpc/peer_message.h"

namespace hai {

namespace asio = boost::asio;
using asio::ip::udp;

struct UdpPeers::Impl : std::enable_shared_from_this<Impl> {
  Impl(asio::io_context& context, UdpPeersOptions given)
      : options(std::move(given)), socket(context), resolver(context) {
    std::random_device random;
    nonce = uint64_t{random()} << 32 | random();
  }

  void receive() {
    socket.async_receive_from(
        asio::buffer(buffer), sender,
        [self = shared_from_this()](const boost::system::error_code& error, size_t size) {
          if (error == asio::error::operation_aborted || self->is_closed) return;
          // Any other error is about a datagram sent earlier ("port unreachable"): no reason to
          // stop listening.
          if (!error) self->handle({self->buffer.data(), size});
          self->receive();
        });
  }

  void handle(std::string_view datagram) {
    const std::optional<PeerMessage> message = decode_peer_message(datagram, options.agent_token);
    if (!message || message->to != options.node) return;
    if (!message->is_answer) {
      send({.is_answer = true,
            .nonce = message->nonce,
            .round = message->round,
            .answer = listener.asked(),
            .from = options.node,
            .to = message->from},
           sender);
    } else if (message->nonce == nonce) {
      listener.answered(message->round, message->from, message->answer);
    }
  }

  // What can't be sent is lost like any datagram: the next round asks again.
  void send(const PeerMessage& message, const udp::endpoint& to) {
    boost::system::error_code error;
    socket.send_to(asio::buffer(encode(message, options.agent_token)), to, 0, error);
  }

  void resolve(const Peer& peer, std::function<void(const udp::endpoint&)> use) {
    resolver.async_resolve(
        peer.address, std::to_string(peer.port), udp::resolver::numeric_service,
        [self = shared_from_this(), key = std::pair(peer.address, peer.port), use](
            const boost::system::error_code& error, const udp::resolver::results_type& results) {
          if (error || self->is_closed) return;
          for (const auto& entry : results) {
            if (entry.endpoint().protocol() != self->socket.local_endpoint().protocol()) continue;
            self->endpoints[key] = entry.endpoint();
            if (use) use(entry.endpoint());
            return;
          }
        });
  }

  const UdpPeersOptions options;
  udp::socket socket;
  udp::resolver resolver;
  uint64_t nonce = 0;
  Listener listener;
  udp::endpoint sender;
  std::array<char, kPeerMessageBytesMax> buffer{};
  std::map<std::pair<std::string, int>, udp::endpoint> endpoints;
  bool is_closed = false;
};

UdpPeers::UdpPeers(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<UdpPeers>> UdpPeers::open(asio::io_context& context,
                                                 UdpPeersOptions options) {
  boost::system::error_code error;
  asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) address = asio::ip::address_v4::any();
  const udp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
  auto impl = std::make_shared<Impl>(context, std::move(options));
  impl->socket.open(endpoint.protocol(), error);
  if (!error) impl->socket.bind(endpoint, error);
  if (error) {
    return unavailable("cannot listen on UDP {}:{}: {}", address.to_string(), endpoint.port(),
                       error.message());
  }
  impl->socket.non_blocking(true);
  return std::unique_ptr<UdpPeers>(new UdpPeers(std::move(impl)));
}

UdpPeers::~UdpPeers() {
  impl_->is_closed = true;
  impl_->resolver.cancel();
  boost::system::error_code ignored;
  impl_->socket.close(ignored);
}

int UdpPeers::port() const { return impl_->socket.local_endpoint().port(); }

void UdpPeers::start(Listener listener) {
  impl_->listener = std::move(listener);
  impl_->receive();
}

void UdpPeers::prepare(const std::vector<Peer>& peers) {
  impl_->endpoints.clear();
  for (const Peer& peer : peers) impl_->resolve(peer, nullptr);
}

void UdpPeers::ask(int64_t round, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) {
    auto send = [impl = impl_, round, node = peer.node](const udp::endpoint& to) {
      impl->send({.nonce = impl->nonce, .round = round, .from = impl->options.node, .to = node},
                 to);
    };
    auto known = impl_->endpoints.find({peer.address, peer.port});
    if (known != impl_->endpoints.end()) {
      send(known->second);
    } else {
      impl_->resolve(peer, send);
    }
  }
}

}  // namespace hai
