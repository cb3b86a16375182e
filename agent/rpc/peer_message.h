#pragma once
// What agents say to each other in one UDP datagram: "is your lease alive?" and the answer, of the
// same size, so that nobody can make agents send more than they are sent. Authenticated with the
// key of the two nodes (common/tls/peer_keys.h), or with the agents' token (HMAC-SHA-256 over
// everything before it).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/agent_messages.h"

namespace hai {

struct PeerMessage {
  bool is_answer = false;
  uint64_t nonce = 0;  // of the asking process, so that an answer can't be replayed to another
  int64_t round = 0;
  LeaseAnswer answer = LeaseAnswer::unknown;  // of an answer
  std::string from;                           // node names, at most 255 bytes each
  std::string to;
  bool operator==(const PeerMessage&) const = default;
};

inline constexpr size_t kPeerMessageBytesMax = 1'024;

std::string encode(const PeerMessage& message, std::string_view key);
// nullopt for anything that is not a message made with this key.
std::optional<PeerMessage> decode_peer_message(std::string_view datagram, std::string_view key);
// What it says, whoever has made it: to know by which key to judge it, and for nothing else.
std::optional<PeerMessage> read_unproved(std::string_view datagram);

}  // namespace hai
