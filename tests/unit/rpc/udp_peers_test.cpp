// Agents that ask each other over real sockets.

#include "agent/rpc/udp_peers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <filesystem>
#include <fstream>

#include "agent/peer_key_file.h"
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

// As the server makes them.
PeerKeys keys_of(const std::string& node, const std::vector<std::string>& peers) {
  const std::string secret = peer_secret_of("the key of the CA");
  PeerKeys keys{.own = peer_key_of_node(secret, node)};
  for (const std::string& peer : peers) {
    keys.peers[peer] = peer_key_of_pair(peer_key_of_node(secret, peer), node);
  }
  return keys;
}

TEST(UdpPeers, WithKeysOfTheirOwnNeedNoToken) {
  AsioLoop loop;
  Node a(loop, "a", "");
  Node b(loop, "b", "another");
  a.peers->set_keys(keys_of("a", {"b"}));
  b.peers->set_keys(keys_of("b", {}));  // it need not know who may ask it
  b.lease = LeaseAnswer::alive;
  a.peers->ask(1, {b.as("b")});
  run_until(loop, [&] { return !a.answers.empty(); });
  EXPECT_EQ(a.answers, std::vector<std::string>{"1 b alive"});
}

// A socket at which a's question to b arrives, and whose owner answers as he likes.
struct Wire {
  boost::asio::ip::udp::socket socket;
  boost::asio::ip::udp::endpoint asker;
  explicit Wire(AsioLoop& loop)
      : socket(loop.io_context(), {boost::asio::ip::address_v4::loopback(), 0}) {}
  Peer as(const std::string& name) const {
    return {name, "127.0.0.1", socket.local_endpoint().port()};
  }
  PeerMessage question(AsioLoop& loop) {
    EXPECT_TRUE(run_until(loop, [&] { return socket.available() > 0; }));
    std::array<char, kPeerMessageBytesMax> bytes{};
    const size_t size = socket.receive_from(boost::asio::buffer(bytes), asker);
    return read_unproved({bytes.data(), size}).value();
  }
  void send(const PeerMessage& message, const std::string& key, Wire& from) {
    from.socket.send_to(boost::asio::buffer(encode(message, key)), asker);
  }
};

// What one peer could do with the secret of all: vote for the others.
// Agents of before have the token only, those that joined since have keys only.
TEST(UdpPeers, WhoHasTokenAndKeysUnderstandsThoseOfBeforeAndThoseOfNow) {
  AsioLoop loop;
  Node both(loop, "both");
  Node old(loop, "old");
  Node fresh(loop, "fresh", "");
  both.lease = old.lease = fresh.lease = LeaseAnswer::alive;
  both.peers->set_keys(keys_of("both", {"old", "fresh"}));
  fresh.peers->set_keys(keys_of("fresh", {"both"}));
  both.peers->ask(1, {old.as("old"), fresh.as("fresh")});
  run_until(loop, [&] {
    return std::ranges::count(both.answers, "1 old alive") > 0 &&
           std::ranges::count(both.answers, "1 fresh alive") > 0;
  });
  old.peers->ask(2, {both.as("both")});
  fresh.peers->ask(3, {both.as("both")});
  run_until(loop, [&] { return !old.answers.empty() && !fresh.answers.empty(); });
  EXPECT_EQ(old.answers.front(), "2 both alive");
  EXPECT_EQ(fresh.answers.front(), "3 both alive");
}

TEST(UdpPeers, AnswersOfAnotherNodeAreNotBelieved) {
  AsioLoop loop;
  Node a(loop, "a", "");
  a.peers->set_keys(keys_of("a", {"b", "c"}));
  Wire wire(loop);
  a.peers->ask(1, {wire.as("b")});
  const PeerMessage asked = wire.question(loop);
  PeerMessage answer{.is_answer = true,
                     .nonce = asked.nonce,
                     .round = 1,
                     .answer = LeaseAnswer::dead,
                     .from = "b",
                     .to = "a"};
  // Whoever is c knows the token, K_c, and the keys by which c asks.
  const PeerKeys of_c = keys_of("c", {"a", "b"});
  for (const std::string& key : {std::string(kToken), of_c.own, of_c.peers.at("a"),
                                 of_c.peers.at("b"), peer_key_of_pair(of_c.own, "a")}) {
    wire.send(answer, key, wire);
  }
  const std::string right = keys_of("a", {"b"}).peers.at("b");
  ++answer.nonce;  // of an answer to another process, again
  wire.send(answer, right, wire);
  --answer.nonce;
  answer.answer = LeaseAnswer::alive;
  wire.send(answer, right, wire);  // datagrams on one machine come in order
  run_until(loop, [&] { return !a.answers.empty(); });
  EXPECT_EQ(a.answers, std::vector<std::string>{"1 b alive"});
}

TEST(UdpPeers, TakeQuestionsByTheKeysBeforeForAWhile) {
  AsioLoop loop;
  Node a(loop, "a", "");
  Node b(loop, "b", "");
  a.peers->set_keys(keys_of("a", {"b"}));
  b.peers->set_keys(keys_of("b", {}));
  b.peers->set_keys({.own = peer_key_of_node("another secret", "b")});
  a.peers->ask(1, {b.as("b")});
  run_until(loop, [&] { return !a.answers.empty(); });
  EXPECT_EQ(a.answers.size(), 1u);
}

TEST(PeerKeys, OfAPairAreNobodyElses) {
  const std::string secret = peer_secret_of("the key of the CA");
  EXPECT_EQ(secret.size(), 32u);
  EXPECT_NE(secret, peer_secret_of("another key"));
  const std::string a = peer_key_of_node(secret, "a");
  const std::string b = peer_key_of_node(secret, "b");
  EXPECT_NE(peer_key_of_pair(b, "a"), peer_key_of_pair(a, "b")) << "one in each direction";
  EXPECT_NE(peer_key_of_pair(b, "a"), peer_key_of_pair(b, "c"));
}

TEST(PeerKeyFile, IsKeptForTheNextProcessAndForNobodyElse) {
  std::string folder = testing::TempDir() + "/hai-keys-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(load_peer_keys(folder), PeerKeys{});
  const PeerKeys keys{.own = std::string("\0\xff\x10key", 6), .peers = {{"b", "\x01\x02"}}};
  ASSERT_TRUE(save_peer_keys(folder, keys).is_ok());
  EXPECT_EQ(load_peer_keys(folder), keys);
  const auto mode = std::filesystem::status(folder + "/peer_keys").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ofstream(folder + "/peer_keys") << "{\"own\": \"zz\", \"peers\": 3}";
  EXPECT_EQ(load_peer_keys(folder), PeerKeys{});
  std::filesystem::remove_all(folder);
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
