// How the ranks of a job find each other, and who is kept out.

#include "cli/slurm/step/rendezvous.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "cli/patience.h"

namespace hai::cli::slurm {
namespace {

using testing::HasSubstr;

Place place(int rank, int port, const std::string& key, Duration patience) {
  return {.rank = rank,
          .ranks = 3,
          .attempt = "1",
          .node = fmt::format("n{}", rank),
          .master_address = "127.0.0.1",
          .master_port = port,
          .key = key,
          .patience = patience};
}

// A port that was free a moment ago.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t length = sizeof any;
  ::bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &length);
  ::close(fd);
  return ntohs(any.sin_port);
}

TEST(SlurmRendezvous, RanksFindEachOtherAndLeaveThePortFree) {
  const int port = free_port();
  Result<std::vector<Peer>> peers = unavailable("");
  std::thread host([&] { peers = gather_peers(place(0, port, "key", 30s)); });
  Result<FrameChannel> second = join_host(place(2, port, "key", 30s));
  Result<FrameChannel> first = join_host(place(1, port, "key", 30s));
  host.join();
  ASSERT_TRUE(peers.is_ok()) << peers.status().message();
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  ASSERT_EQ(peers.value().size(), 2u);
  EXPECT_EQ(peers.value()[0].node, "n1");  // by rank, not in the order they came
  EXPECT_EQ(peers.value()[1].node, "n2");
  // The program's own rendezvous may listen there now, without any option.
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ::close(fd);
}

TEST(SlurmRendezvous, StrangersAreNotLetIn) {
  const int port = free_port();
  Result<std::vector<Peer>> peers = unavailable("");
  std::thread host([&] { peers = gather_peers(place(0, port, "key", 2s)); });
  EXPECT_FALSE(join_host(place(1, port, "guess", 0s)).is_ok());
  Place other = place(1, port, "key", 500ms);
  other.attempt = "2";
  EXPECT_FALSE(join_host(other).is_ok());
  host.join();
  EXPECT_EQ(peers.status().message(), "2 of 3 ranks have not come within 2s");
}

// What comes within 10 s, or until the channel closes.
std::vector<Frame> frames_of(FrameChannel& channel) {
  for (const MonoTime end = mono_now() + 10s; channel.is_open() && mono_now() < end;) {
    pollfd poll = {channel.fd(), POLLIN, 0};
    ::poll(&poll, 1, 1'000);
    if (std::vector<Frame> frames = channel.receive(); !frames.empty()) return frames;
  }
  return {};
}

const Frame kHello = {FrameKind::resources, 0, 0, "hello"};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd listening_at(int port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  return fd;
}

// Waits for who is to listen there.
Fd dialled(int port) {
  const sockaddr_in address = loopback(port);
  for (int tries = 0; tries < 1'000; ++tries) {
    Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return fd;
    }
    ::poll(nullptr, 0, 10);
  }
  return {};
}

std::string line_of(const Fd& fd) {
  std::string line;
  for (char c = 0; ::recv(fd.get(), &c, 1, 0) == 1 && c != '\n';) line += c;
  return line;
}

void say_to(const Fd& fd, const std::string& text) {
  EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// A neighbour on the host's node who was at the port that the peers ask before the host was: he
// names a port of his own, and passes on unchanged what comes to it. How many lines he has passed
// on.
int relay(const Fd& guide, const Fd& door, int own_port, int host_port) {
  const std::string greeting = line_of(dialled(host_port));
  const size_t blank = greeting.find(' ') + 1;
  const Fd host = dialled(std::stoi(greeting.substr(blank)));
  say_to(Fd(::accept(guide.get(), nullptr, nullptr)),
         fmt::format("{}{}\n", greeting.substr(0, blank), own_port));
  const Fd peer(::accept(door.get(), nullptr, nullptr));
  int passed = 0;
  for (const Fd* from : {&host, &peer, &host}) {
    const std::string line = line_of(*from);
    if (line.empty()) break;
    say_to(from == &host ? peer : host, line + "\n");
    ++passed;
  }
  return passed;
}

TEST(SlurmRendezvous, WhoPassesTheProofsOnIsNotBelieved) {
  const int port = free_port();
  const int asked = free_port();
  const int own = free_port();
  const Fd guide = listening_at(asked);
  const Fd door = listening_at(own);
  Result<std::vector<Peer>> peers = unavailable("");
  int passed = 0;
  std::thread host([&] { peers = gather_peers(place(0, port, "key", 2s)); });
  std::thread between([&] { passed = relay(guide, door, own, port); });
  const Result<FrameChannel> joined = join_host(place(1, asked, "key", 0s));
  between.join();
  host.join();
  EXPECT_THAT(joined.status().message(), HasSubstr("does not know this job's key"));
  EXPECT_EQ(passed, 2);  // the nonce and the peer's proof, but no answer
  EXPECT_EQ(peers.status().message(), "2 of 3 ranks have not come within 2s");
}

TEST(SlurmRendezvous, APlaceIsTakenOnceWhileItsPeerIsThere) {
  const int port = free_port();
  Result<std::vector<Peer>> peers = unavailable("");
  std::thread host([&] { peers = gather_peers(place(0, port, "key", 30s)); });
  Result<FrameChannel> first = join_host(place(1, port, "key", 30s));
  EXPECT_FALSE(join_host(place(1, port, "key", 0s)).is_ok());
  const Result<FrameChannel> second = join_host(place(2, port, "key", 30s));
  host.join();
  ASSERT_TRUE(peers.is_ok() && first.is_ok()) << peers.status().message();
  first.value().send(kHello);
  EXPECT_EQ(frames_of(peers.value()[0].channel), std::vector{kHello});
  peers.value()[0].channel.send(kHello);
  EXPECT_EQ(frames_of(first.value()), std::vector{kHello});
}

TEST(SlurmRendezvous, APeerThatHungUpMayComeAgain) {
  const int port = free_port();
  Result<std::vector<Peer>> peers = unavailable("");
  std::thread host([&] { peers = gather_peers(place(0, port, "key", 30s)); });
  {
    Result<FrameChannel> lost = join_host(place(1, port, "key", 30s));
    EXPECT_TRUE(lost.is_ok());
    if (lost.is_ok()) lost.value().send(kHello);  // the host reads it only when the peer is gone
  }
  Result<FrameChannel> first = join_host(place(1, port, "key", 30s));
  const Result<FrameChannel> second = join_host(place(2, port, "key", 30s));
  host.join();
  ASSERT_TRUE(peers.is_ok() && first.is_ok()) << peers.status().message();
  peers.value()[0].channel.send(kHello);
  EXPECT_EQ(frames_of(first.value()), std::vector{kHello});
}

TEST(SlurmRendezvous, AnotherVersionIsNamed) {
  const int port = free_port();
  const Fd guide = listening_at(port);
  std::thread older([&] { say_to(Fd(::accept(guide.get(), nullptr, nullptr)), "hai-slurm 5\n"); });
  const Result<FrameChannel> joined = join_host(place(1, port, "key", 0s));
  older.join();
  EXPECT_EQ(joined.status().message(),
            "the job's first rank, at 127.0.0.1, has another version of hai-slurm than n1; install "
            "the same package hai-slurm on both nodes");
}

// Two ends of a connection with somebody between them, who has what they say as bytes.
struct Tapped {
  FrameChannel host{Fd()};
  FrameChannel peer{Fd()};
  Fd beside_host;
  Fd beside_peer;

  Tapped() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const FrameMac from_host("session", "host");
    const FrameMac from_peer("session", "peer");
    host = FrameChannel(Fd(ends[0]), FrameMacs{from_host, from_peer});
    beside_host = Fd(ends[1]);
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    peer = FrameChannel(Fd(ends[0]), FrameMacs{from_peer, from_host});
    beside_peer = Fd(ends[1]);
  }

  std::string said_by_host(const Frame& frame) {
    host.send(frame);
    char bytes[1'000];
    const ssize_t count = ::recv(beside_host.get(), bytes, sizeof bytes, 0);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))};
  }
};

const Frame kStart = {FrameKind::start, 1, 0, "/bin/true"};

TEST(SlurmChannel, WhatWasAlteredEndsIt) {
  const size_t bytes = Tapped().said_by_host(kStart).size();
  ASSERT_EQ(bytes, encode(kStart).size() + kMacBytes);
  for (size_t at = 4; at < bytes; ++at) {  // not the length, for whose bytes it would wait
    Tapped line;
    say_to(line.beside_peer, line.said_by_host(kStart));
    ASSERT_EQ(line.peer.receive(), std::vector{kStart});
    std::string altered = line.said_by_host(kStart);
    altered[at] = static_cast<char>(altered[at] ^ 1);
    say_to(line.beside_peer, altered);
    EXPECT_TRUE(line.peer.receive().empty()) << at;
    EXPECT_FALSE(line.peer.is_open()) << at;
    EXPECT_FALSE(line.peer.nonsense().is_ok()) << at;
  }
}

TEST(SlurmChannel, WhatIsSaidAgainOrElsewhereEndsIt) {
  const auto expect_ended = [](FrameChannel& channel) {
    EXPECT_TRUE(channel.receive().empty());
    EXPECT_FALSE(channel.is_open());
    EXPECT_EQ(channel.nonsense(),
              unauthenticated("a message has a wrong MAC: something between the job's nodes alters "
                              "what they say"));
  };
  Tapped again;
  const std::string said = again.said_by_host(kStart);
  say_to(again.beside_peer, said);
  ASSERT_EQ(again.peer.receive(), std::vector{kStart});
  say_to(again.beside_peer, said);
  expect_ended(again.peer);
  Tapped back;
  say_to(back.beside_host, back.said_by_host(kStart));
  expect_ended(back.host);
  Tapped left_out;
  left_out.said_by_host(kStart);
  say_to(left_out.beside_peer, left_out.said_by_host(kStart));
  expect_ended(left_out.peer);
}

}  // namespace
}  // namespace hai::cli::slurm
