// By what a node shows that it was told what it says.

#include "common/tls/order_proofs.h"

#include <gtest/gtest.h>

#include <set>

#include "common/tls/peer_keys.h"

namespace hai {
namespace {

const OrderProofs kProofs(peer_secret_of("the key of an authority"));
const RankKey kRank{JobId{7}, 3, 1};
constexpr LogPosition kPosition{Epoch{4}, 90};

AgentOrder told(const std::string& node) {
  AgentOrder order{
      .epoch = kPosition.epoch, .body = LaunchRank{.key = kRank}, .seq = kPosition.seq};
  kProofs.add(node, order);
  return order;
}

// What an agent says that was told that.
AgentReport said(const std::string& node, const AgentOrder& order) {
  const auto& launch = std::get<LaunchRank>(order.body);
  AgentReport report{.node = node};
  report.seen = {order.epoch, order.seq};
  report.seen_proof = order.proof;
  report.ranks = {{.key = launch.key, .proof = launch.proof}};
  return report;
}

TEST(OrderProofs, LetANodeSayWhatItWasTold) {
  AgentReport report = said("node-1", told("node-1"));
  kProofs.check("node-1", report);
  EXPECT_EQ(report.seen, kPosition);
  EXPECT_TRUE(report.ranks[0].was_ordered);
}

TEST(OrderProofs, AreNoGoodForAnotherNode) {
  AgentReport report = said("node-2", told("node-1"));
  kProofs.check("node-2", report);
  EXPECT_EQ(report.seen, LogPosition{});
  EXPECT_FALSE(report.ranks[0].was_ordered);
}

TEST(OrderProofs, AreNoGoodForAnythingElse) {
  const AgentOrder order = told("node-1");
  const auto expect_nothing = [](AgentReport report) {
    kProofs.check("node-1", report);
    EXPECT_EQ(report.seen, LogPosition{});
    EXPECT_FALSE(report.ranks[0].was_ordered);
  };
  for (const LogPosition other : {LogPosition{Epoch{5}, 90}, {Epoch{4}, 91}, {Epoch{49}, 0}}) {
    AgentReport report = said("node-1", order);
    report.seen = other;
    report.ranks[0].key.rank = 2;
    expect_nothing(report);
  }
  for (const RankKey other : {RankKey{JobId{73}, 1, 0}, {JobId{7}, 4, 1}, {JobId{7}, 31, 0}}) {
    AgentReport report = said("node-1", order);
    report.seen_proof.clear();
    report.ranks[0].key = other;
    expect_nothing(report);
  }
  AgentReport swapped = said("node-1", order);
  std::swap(swapped.seen_proof, swapped.ranks[0].proof);
  expect_nothing(swapped);
  AgentReport cut = said("node-1", order);
  cut.seen_proof.pop_back();
  cut.ranks[0].proof.pop_back();
  expect_nothing(cut);
}

TEST(OrderProofs, DoNotTellOnePartOfANameFromTheNextByChance) {
  EXPECT_NE(kProofs.of_launch("node-1", {JobId{1}, 1, 0}),
            kProofs.of_launch("node-11", {JobId{1}, 1, 0}));
  std::set<std::string> all;
  for (const char* node : {"n", "n1", "n 1"}) {
    for (const int64_t number : {1, 11, 111}) {
      all.insert(kProofs.of_position(node, {Epoch{number}, 1}));
      all.insert(kProofs.of_position(node, {Epoch{1}, 10 * number}));
      all.insert(kProofs.of_launch(node, {JobId{number}, 1, 1}));
    }
  }
  EXPECT_EQ(all.size(), 27u);
}

// A server that has another CA's key, and a node that knows its own key of its peers.
TEST(OrderProofs, AreMadeByTheSecretAlone) {
  const std::string secret = peer_secret_of("the key of an authority");
  EXPECT_NE(OrderProofs(peer_secret_of("another")).of_position("node-1", kPosition),
            kProofs.of_position("node-1", kPosition));
  EXPECT_NE(OrderProofs(peer_key_of_node(secret, "node-1")).of_position("node-1", kPosition),
            kProofs.of_position("node-1", kPosition));
}

}  // namespace
}  // namespace hai
