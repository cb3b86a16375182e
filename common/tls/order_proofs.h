#pragma once
// By which a node can show later what it was told. An agent reports what orders it has seen, and
// that may be news to the servers: their database may have lost it (docs/design/0006). What a node
// makes up must not pass for that, so each order bears a proof for its node, and the report bears
// the newest one back:
//
//   P                       HMAC(S, "\x01orders"), where S is the servers' secret (peer_keys.h)
//   proof of a position     HMAC(P, node, epoch, seq), the first 16 bytes
//   proof of a launch       HMAC(P, node, job, attempt, rank), the first 16 bytes
//
// A proof of one node shows nothing for another. Whoever has S's key, the CA's, can make them.

#include <string>
#include <string_view>

#include "common/agent_messages.h"

namespace hai {

class OrderProofs {
 public:
  // `secret`: of peer_secret_of(). No node's name begins with \x01, so that no node is given P as
  // the key of its peers.
  explicit OrderProofs(std::string_view secret);

  std::string of_position(std::string_view node, LogPosition position) const;
  std::string of_launch(std::string_view node, const RankKey& key) const;

  // Gives an order that leaves for this node its proofs.
  void add(std::string_view node, AgentOrder& order) const;
  // What this node has not proved becomes what nobody has told it: `seen` is nothing, and a rank
  // was not ordered.
  void check(std::string_view node, AgentReport& report) const;

 private:
  std::string proof_of(std::string_view kind, std::string_view node, std::string_view what) const;

  const std::string key_;
};

}  // namespace hai
