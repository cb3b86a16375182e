#pragma once
// The keys by which agents believe what other agents tell them (agent/rpc/udp_peers.h). Each pair
// of nodes has one in each direction, and no node knows those of pairs that it is not in:
//
//   S      the servers' secret, made from the key of their CA
//   K_B    HMAC(S, "B"), which B alone is given
//   K_AB   HMAC(K_B, "A"), which A is given to ask B; B makes it from K_B and the name that A says
//
// So B keeps nothing per peer, and A can neither ask nor answer as anybody else.

#include <map>
#include <string>
#include <string_view>

namespace hai {

std::string hmac_sha256(std::string_view key, std::string_view text);

// S, from the CA's key in PEM (HKDF of RFC 5869 with SHA-256).
std::string peer_secret_of(std::string_view authority_key);
std::string peer_key_of_node(std::string_view secret, std::string_view node);
// By which `asker` asks whoever has `own_key`, and is answered.
std::string peer_key_of_pair(std::string_view own_key, std::string_view asker);

// What an agent was given.
struct PeerKeys {
  std::string own;                           // "" = none
  std::map<std::string, std::string> peers;  // by node: to ask it with
  bool operator==(const PeerKeys&) const = default;
};

}  // namespace hai
