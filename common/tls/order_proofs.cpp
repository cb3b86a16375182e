#include "common/tls/order_proofs.h"

#include <fmt/core.h>
#include <openssl/crypto.h>

#include "common/tls/peer_keys.h"

namespace hai {

namespace {

constexpr size_t kProofBytes = 16;

bool is_same(std::string_view given, std::string_view expected) {
  return given.size() == expected.size() &&
         CRYPTO_memcmp(given.data(), expected.data(), expected.size()) == 0;
}

}  // namespace

OrderProofs::OrderProofs(std::string_view secret) : key_(hmac_sha256(secret, "\x01orders")) {}

// A node's name has no NUL: the parts can't be divided in another way.
std::string OrderProofs::proof_of(std::string_view kind, std::string_view node,
                                  std::string_view what) const {
  constexpr char kEnd = '\0';
  return hmac_sha256(key_, fmt::format("{}{}{}{}{}", kind, kEnd, node, kEnd, what))
      .substr(0, kProofBytes);
}

std::string OrderProofs::of_position(std::string_view node, LogPosition position) const {
  return proof_of("position", node, fmt::format("{} {}", position.epoch.value, position.seq));
}

std::string OrderProofs::of_launch(std::string_view node, const RankKey& key) const {
  return proof_of("launch", node, fmt::format("{} {} {}", key.job.value, key.attempt, key.rank));
}

void OrderProofs::add(std::string_view node, AgentOrder& order) const {
  order.proof = of_position(node, {order.epoch, order.seq});
  if (auto* launch = std::get_if<LaunchRank>(&order.body)) {
    launch->proof = of_launch(node, launch->key);
  }
}

void OrderProofs::check(std::string_view node, AgentReport& report) const {
  if (!is_same(report.seen_proof, of_position(node, report.seen))) report.seen = {};
  for (RankStatus& rank : report.ranks) {
    // Most lies bear none, and cost nothing.
    rank.was_ordered = !rank.proof.empty() && is_same(rank.proof, of_launch(node, rank.key));
  }
}

}  // namespace hai
