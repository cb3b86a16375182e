#pragma once
// How the agents of one process ask each other whether their leases live: without datagrams. The
// answers are the agents' own, so fencing works as between machines: a silent or dead node neither
// hears a question nor gives an answer. Agents of other processes are not reached, which counts as
// no answer and can only end ranks earlier.

#include <map>
#include <string>

#include "agent/core/peer_port.h"
#include "common/loop.h"

namespace hai {

class FleetPeers;

// Outlived by the exchange it belongs to.
class FleetPeer final : public PeerPort {
 public:
  FleetPeer(FleetPeers& all, std::string node, const bool& is_silent);
  ~FleetPeer() override;

  void start(Listener listener) override { listener_ = std::move(listener); }
  void prepare(const std::vector<Peer>&) override {}
  void ask(int64_t round, const std::vector<Peer>& peers) override;

 private:
  friend class FleetPeers;
  FleetPeers& all_;
  const std::string node_;
  const bool& is_silent_;
  Listener listener_;
};

class FleetPeers {
 public:
  explicit FleetPeers(Loop& loop) : loop_(loop) {}

 private:
  friend class FleetPeer;
  void exchange(const std::string& asker, const std::string& asked, int64_t round);

  Loop& loop_;
  std::map<std::string, FleetPeer*> living_;
};

}  // namespace hai
