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
    const std::optional<PeerMessage> said = read_unproved(datagram);
    if (!said || said->to != options.node) return;
    said->is_answer ? handle_answer(datagram, *said) : handle_question(datagram, *said);
  }

  // Answered by the key by which it was asked, which the asker has.
  void handle_question(std::string_view datagram, const PeerMessage& said) {
    for (const std::string& key : keys_to_be_asked_with(said.from)) {
      if (!decode_peer_message(datagram, key)) continue;
      return send({.is_answer = true,
                   .nonce = said.nonce,
                   .round = said.round,
                   .answer = listener.asked(),
                   .from = options.node,
                   .to = said.from},
                  sender, key);
    }
  }

  // One of that node, to this question. From where it comes says nothing: a machine with several
  // addresses answers from any of them.
  void handle_answer(std::string_view datagram, const PeerMessage& said) {
    if (said.nonce != nonce) return;
    for (const std::string& key : keys_to_ask_with(said.from)) {
      if (!decode_peer_message(datagram, key)) continue;
      return listener.answered(said.round, said.from, said.answer);
    }
  }

  std::vector<std::string> keys_to_be_asked_with(const std::string& asker) const {
    std::vector<std::string> found;
    for (const std::string& own : {keys.own, own_before}) {
      if (!own.empty()) found.push_back(peer_key_of_pair(own, asker));
    }
    if (!options.agent_token.empty()) found.push_back(options.agent_token);
    return found;
  }

  // As long as this agent has the token of all, it is for those that know nothing else: agents of a
  // version before the keys of pairs.
  std::vector<std::string> keys_to_ask_with(const std::string& node) const {
    std::vector<std::string> all;
    const auto found = keys.peers.find(node);
    if (found != keys.peers.end() && !found->second.empty()) all.push_back(found->second);
    if (!options.agent_token.empty()) all.push_back(options.agent_token);
    return all;
  }

  void ask(int64_t round, const std::string& node, const udp::endpoint& to) {
    for (const std::string& key : keys_to_ask_with(node)) {
      send({.nonce = nonce, .round = round, .from = options.node, .to = node}, to, key);
    }
  }

  // What can't be sent is lost like any datagram: the next round asks again.
  void send(const PeerMessage& message, const udp::endpoint& to, const std::string& key) {
    boost::system::error_code error;
    socket.send_to(asio::buffer(encode(message, key)), to, 0, error);
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
  PeerKeys keys;
  std::string own_before;  // until the last set_keys()
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

void UdpPeers::set_keys(PeerKeys keys) {
  if (keys.own != impl_->keys.own) impl_->own_before = impl_->keys.own;
  impl_->keys = std::move(keys);
}

void UdpPeers::prepare(const std::vector<Peer>& peers) {
  impl_->endpoints.clear();
  for (const Peer& peer : peers) impl_->resolve(peer, nullptr);
}

void UdpPeers::ask(int64_t round, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) {
    auto send = [impl = impl_, round, node = peer.node](const udp::endpoint& to) {
      impl->ask(round, node, to);
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
