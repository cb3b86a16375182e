#pragma once
// Whose connections have proved something: an agent that was accepted, a person whose token is
// known. When there are too many connections, these stay. Thread-safe.

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/host_port.h"

namespace hai {

// "10.0.0.7" of gRPC's "ipv4:10.0.0.7:41234", "[::1]" of "ipv6:%5B::1%5D:41234".
inline std::string host_of_peer(const std::string& peer) {
  const size_t scheme = peer.find(':');
  const size_t port = peer.rfind(':');
  if (scheme == std::string::npos || scheme >= port) return peer;
  std::string host = peer.substr(scheme + 1, port - scheme - 1);
  if (host.starts_with("%5B") && host.ends_with("%5D")) {
    host = "[" + host.substr(3, host.size() - 6) + "]";
  }
  return host;
}

class KnownPeers {
 public:
  // `peer` as gRPC writes it: "ipv4:10.0.0.7:41234".
  void note(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    if (peers_.insert(peer).second) std::erase(strangers_, peer);
  }
  // A new connection: what came over an earlier one of that name proves nothing.
  void arrived(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    peers_.erase(peer);
    std::erase(strangers_, peer);
    if (strangers_.size() == kStrangersMax) strangers_.erase(strangers_.begin());
    strangers_.push_back(peer);
  }
  bool knows(const std::string& peer) const {
    const std::lock_guard lock(mutex_);
    return peers_.contains(peer);
  }
  void forget(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    peers_.erase(peer);
    std::erase(strangers_, peer);
  }
  // From where a call comes that was refused before gRPC tells its peer: the machines whose
  // connections have proved nothing, the latest first and three at most; mostly it is one. "" = not
  // known.
  std::string hosts_of_strangers() const {
    constexpr size_t kHostsMax = 3;
    std::vector<std::string> machines;
    std::string text;
    const std::lock_guard lock(mutex_);
    for (auto it = strangers_.rbegin(); it != strangers_.rend() && machines.size() < kHostsMax;
         ++it) {
      const std::string host = host_of_peer(*it);
      std::string machine = machine_of(host);
      if (std::ranges::find(machines, machine) != machines.end()) continue;
      machines.push_back(std::move(machine));
      text += (text.empty() ? "" : " or ") + host;
    }
    return text;
  }
  // A call may end after its connection: what it has noted then must not stay for good.
  template <typename Predicate>
  void forget_if(Predicate is_gone) {
    const std::lock_guard lock(mutex_);
    std::erase_if(peers_, is_gone);
    std::erase_if(strangers_, is_gone);
  }

 private:
  static constexpr size_t kStrangersMax = 64;

  mutable std::mutex mutex_;
  std::vector<std::string> strangers_;  // the latest connections that have proved nothing
  std::unordered_set<std::string> peers_;
};

}  // namespace hai
