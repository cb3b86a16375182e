#include "agent/fleet/fleet_peers.h"

namespace hai {

FleetPeer::FleetPeer(FleetPeers& all, std::string node, const bool& is_silent)
    : all_(all), node_(std::move(node)), is_silent_(is_silent) {
  all_.living_[node_] = this;
}

FleetPeer::~FleetPeer() { all_.living_.erase(node_); }

void FleetPeer::ask(int64_t round, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) all_.exchange(node_, peer.node, round);
}

// From the loop: nothing is answered from inside a call. By name, since either may be gone by then.
void FleetPeers::exchange(const std::string& asker, const std::string& asked, int64_t round) {
  loop_.post([this, asker, asked, round] {
    auto from = living_.find(asker);
    auto to = living_.find(asked);
    if (from == living_.end() || to == living_.end()) return;
    if (from->second->is_silent_ || to->second->is_silent_) return;
    from->second->listener_.answered(round, asked, to->second->listener_.asked());
  });
}

}  // namespace hai
