#pragma once
// Whose connections have proved something: an agent that was accepted, a person whose token is
// known. When there are too many connections, these stay. Thread-safe.

#include <mutex>
#include <string>
#include <unordered_set>

namespace hai {

class KnownPeers {
 public:
  // `peer` as gRPC writes it: "ipv4:10.0.0.7:41234".
  void note(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    peers_.insert(peer);
  }
  bool knows(const std::string& peer) const {
    const std::lock_guard lock(mutex_);
    return peers_.contains(peer);
  }
  void forget(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    peers_.erase(peer);
  }
  // A call may end after its connection: what it has noted then must not stay for good.
  template <typename Predicate>
  void forget_if(Predicate is_gone) {
    const std::lock_guard lock(mutex_);
    std::erase_if(peers_, is_gone);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> peers_;
};

}  // namespace hai
