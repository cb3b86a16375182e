#pragma once
// The PeerPort of production: one UDP socket on the agent's loop. Loop thread only.

#include <memory>
#include <string>

#include "agent/core/peer_port.h"
#include "common/status.h"
#include "common/tls/peer_keys.h"

namespace boost::asio {
class io_context;
}

namespace hai {

struct UdpPeersOptions {
  std::string node;
  std::string agent_token;  // a key that all agents share; "" = none
  std::string address;      // bound to it if it is an IP address, else to all of IPv4
  int port = 0;             // 0 = any
};

class UdpPeers final : public PeerPort {
 public:
  // `unavailable` if the port is taken.
  static Result<std::unique_ptr<UdpPeers>> open(boost::asio::io_context& context,
                                                UdpPeersOptions options);
  ~UdpPeers() override;  // closes; no callback afterwards

  int port() const;
  // From now on. Whoever asks by the keys before is answered, too: not all nodes get theirs at
  // once. The token, if there is one, is used and believed beside them.
  void set_keys(PeerKeys keys);
  void start(Listener listener) override;
  void prepare(const std::vector<Peer>& peers) override;
  void ask(int64_t round, const std::vector<Peer>& peers) override;

  struct Impl;

 private:
  explicit UdpPeers(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
