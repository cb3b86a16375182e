// Agents that ask each other over real sockets.

#include "agent/rpc/udp_peers.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "agent/rpc/peer_message.h"
#include "common/asio_loop.h"
#include "tests/unit/rpc/run_until.h"

namespace hai {
namespace {

constexpr const char* kToken = "hai_agent_token";

struct Node {
  std::unique_ptr<UdpPeers> peers;
  LeaseAnswer lease = LeaseAnswer::dead;
  std::vector<std::string> answers;  // "3 b dead"
  int questions = 0;

  Node(AsioLoop& loop, const std::string& name, const std::string& token = kToken) {
    auto opened = UdpPeers::open(loop.io_context(),
                                 {.node = name, .agent_token = token, .address = "127.0.0.1"});
    CHECK(opened.is_ok());
    peers = std::move(opened).value();
    peers->start({.asked =
                      [this] {
                        ++questions;
                        return lease;
                      },
                  .answered =
                      [this](int64_t round, const std::string& node, LeaseAnswer answer) {
                        answers.push_back(fmt::format("{} {} {}", round, node, to_string(answer)));
                      }});
  }
  Peer as(const std::string& name) const { return {name, "127.0.0.1", peers->port()}; }
};

TEST(UdpPeers, AnswerWhatIsTrueWhenTheyAreAsked) {
  AsioLoop loop;
  Node a(loop, "a");
  Node b(loop, "b");
  b.lease = LeaseAnswer::alive;
  a.peers->prepare({b.as("b")});
  a.peers->ask(3, {b.as("b")});
  run_until(loop, [&] { return !a.answers.empty(); });
  EXPECT_EQ(a.answers, std::vector<std::string>{"3 b alive"});
}

TEST(UdpPeers, IgnoreStrangersAndQuestionsToOthers) {
  AsioLoop loop;
  Node a(loop, "a");
  Node stranger(loop, "s", "another token");
  Node b(loop, "b");
  stranger.peers->ask(1, {b.as("b")});
  a.peers->ask(1, {b.as("c")});  // somebody else has that address now
  a.peers->ask(2, {b.as("b")});
  run_until(loop, [&] { return !a.answers.empty(); });
  EXPECT_EQ(a.answers, std::vector<std::string>{"2 b dead"});
  EXPECT_EQ(b.questions, 1);
}

TEST(UdpPeers, GoOnWhenNobodyListens) {
  AsioLoop loop;
  Node a(loop, "a");
  Peer gone;
  {
    Node b(loop, "b");
    gone = b.as("b");
  }
  Node c(loop, "c");
  for (int round = 1; round < 4; ++round) a.peers->ask(round, {gone, c.as("c")});
  run_until(loop, [&] { return a.answers.size() == 3; });
  EXPECT_EQ(a.answers.back(), "3 c dead");
}

TEST(UdpPeers, SayWhenThePortIsTaken) {
  AsioLoop loop;
  Node a(loop, "a");
  auto second = UdpPeers::open(
      loop.io_context(),
      {.node = "b", .agent_token = kToken, .address = "127.0.0.1", .port = a.peers->port()});
  EXPECT_EQ(second.status().code(), Code::unavailable);
}

TEST(PeerMessage, IsReadAsItWasWrittenAndNotWithAnotherKey) {
  const PeerMessage message{true,     0x0123456789abcdef,   -5, LeaseAnswer::alive,
                            "node-1", std::string(255, 'x')};
  const std::string bytes = encode(message, "key");
  EXPECT_EQ(decode_peer_message(bytes, "key"), message);
  EXPECT_EQ(decode_peer_message(bytes, "kez"), std::nullopt);
}

TEST(PeerMessage, IsRefusedWithAnyByteChangedOrMissing) {
  const std::string bytes = encode({.nonce = 1, .round = 2, .from = "a", .to = "b"}, "key");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] ^= 1;
    EXPECT_EQ(decode_peer_message(other, "key"), std::nullopt) << i;
    EXPECT_EQ(decode_peer_message(bytes.substr(0, i), "key"), std::nullopt) << i;
  }
  EXPECT_EQ(decode_peer_message(bytes + "x", "key"), std::nullopt);
}

}  // namespace
}  // namespace hai
