#pragma once
// One round of questions after another to the node's peers, while its lease is dead: may its ranks
// live on? Owned by the agent, used on its loop's thread.
//
// Yes, from the moment a round began, if a majority of all named peers said in that round that
// their leases are dead too, and none that its lease is alive: then nobody leads that could give
// the ranks away. Anything else says nothing, and the fence stays where it is (design/0005).

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/core/peer_port.h"
#include "common/loop_scope.h"

namespace hai {

class PeerVote {
 public:
  static constexpr Duration kRoundTime = 1s;

  // `nobody_leads` is called with the time the round began, when one has ended so.
  PeerVote(Loop& loop, PeerPort& port, std::function<void(MonoTime asked_at)> nobody_leads);

  bool is_asking() const { return timer_.is_armed(); }
  // Asks these from now on, round after round, until stop().
  void ask(std::vector<Peer> peers);
  void stop();
  void answered(int64_t round, const std::string& node, LeaseAnswer answer);

 private:
  friend class AgentFingerprint;
  void begin_round();
  void end_round();

  Loop& loop_;
  PeerPort& port_;
  std::function<void(MonoTime)> nobody_leads_;
  std::vector<Peer> peers_;
  std::map<std::string, LeaseAnswer> answers_;
  int64_t round_ = 0;
  MonoTime asked_at_{};
  LoopTimer timer_;
};

}  // namespace hai
