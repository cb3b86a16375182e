// Many connections, on loopback: which are taken, and which make room. Floods against a whole
// server: tests/e2e/flood_test.py.

#include "server/rpc/grpc_listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/api/log_limit.h"
#include "server/rpc/unread_calls.h"

namespace hai {
namespace {

// A connection that says at most `text`.
class Stranger {
 public:
  explicit Stranger(int port, const std::string& text = "")
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    say(text);
  }
  ~Stranger() { ::close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  void say(const std::string& text) const {
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  // Waits until the other side has closed it.
  bool is_cut(std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    pollfd waiting{.fd = fd_, .events = POLLIN};
    char byte = 0;
    return ::poll(&waiting, 1, static_cast<int>(patience.count())) == 1 &&
           ::recv(fd_, &byte, 1, 0) <= 0;
  }
  // As gRPC calls it.
  std::string name() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return "ipv4:127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }

 private:
  int fd_;
};

// Keeps what it is handed.
struct Hand {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> fds;

  GrpcListener::HandOver taker() {
    return [this](int, int fd) {
      const std::lock_guard lock(mutex);
      fds.push_back(fd);
      changed.notify_all();
    };
  }
  bool wait_for(size_t count, std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return fds.size() >= count; });
  }
  void close_all() {
    const std::lock_guard lock(mutex);
    for (int fd : fds) ::close(fd);
    fds.clear();
  }
  ~Hand() { close_all(); }
};

std::unique_ptr<GrpcListener> listen(ListenerLimits limits,
                                     std::shared_ptr<KnownPeers> known = nullptr) {
  Result<std::unique_ptr<GrpcListener>> listener =
      GrpcListener::open("127.0.0.1:0", limits, std::move(known));
  EXPECT_TRUE(listener.is_ok()) << listener.status().message();
  return std::move(listener).value();
}

TEST(UnreadCalls, AreSoManyUntilTheyAreReadOrGivenUp) {
  UnreadCalls unread;
  const MonoTime now{5s};
  for (size_t i = 0; i < UnreadCalls::kMax; ++i) EXPECT_TRUE(unread.begin(now));
  EXPECT_FALSE(unread.begin(now + UnreadCalls::kLife - 1us));
  unread.end();
  EXPECT_TRUE(unread.begin(now + 1s));
  EXPECT_FALSE(unread.begin(now + 1s));
  EXPECT_TRUE(unread.begin(now + UnreadCalls::kLife)) << "those of then are given up";
  for (size_t i = 0; i < 2 * UnreadCalls::kMax; ++i) unread.end();
  EXPECT_TRUE(unread.begin(now));
}

TEST(GrpcListener, HandsOverAtOnceWhileThereAreFew) {
  Hand hand;
  auto listener = listen({.at_once = 1});
  listener->accept(hand.taker());
  const Stranger first(listener->port());
  EXPECT_TRUE(hand.wait_for(1)) << "a client may wait for the server's first word";
}

TEST(GrpcListener, HandsOverWhoSaysSomething) {
  Hand hand;
  auto listener = listen({.at_once = 0});
  listener->accept(hand.taker());
  const Stranger silent(listener->port());
  const Stranger speaks(listener->port(), "P");
  EXPECT_TRUE(hand.wait_for(1));
  listener->stop();
  EXPECT_EQ(hand.fds.size(), 1u) << "the silent one stayed behind";
}

TEST(GrpcListener, TheOldestOfTheSilentMakesRoom) {
  Hand hand;
  auto listener = listen({.at_once = 0, .silent = 2});
  listener->accept(hand.taker());
  Stranger first(listener->port());
  const Stranger second(listener->port());
  const Stranger third(listener->port());
  EXPECT_TRUE(first.is_cut());
  const Stranger speaks(listener->port(), "P");
  EXPECT_TRUE(hand.wait_for(1));
}

TEST(GrpcListener, WhoStaysSilentIsCut) {
  Hand hand;
  auto listener = listen({.at_once = 0, .silent_time = 10ms});
  listener->accept(hand.taker());
  EXPECT_TRUE(Stranger(listener->port()).is_cut());
}

TEST(GrpcListener, TheOldestThatProvedNothingMakesRoom) {
  Hand hand;
  auto known = std::make_shared<KnownPeers>();
  auto listener = listen({.connections = {.all = 2}}, known);
  listener->accept(hand.taker());
  Stranger proven(listener->port());
  ASSERT_TRUE(hand.wait_for(1));
  known->note(proven.name());
  Stranger first(listener->port());
  const Stranger second(listener->port());
  EXPECT_TRUE(first.is_cut());
  const Stranger third(listener->port());
  EXPECT_TRUE(hand.wait_for(4));
  EXPECT_FALSE(proven.is_cut(std::chrono::milliseconds(1)));
}

TEST(GrpcListener, RefusesMoreThanItsLimitUntilSomeAreGone) {
  Hand hand;
  auto known = std::make_shared<KnownPeers>();
  auto listener = listen({.connections = {.all = 1}, .at_once = 0}, known);
  listener->accept(hand.taker());
  const Stranger first(listener->port(), "P");
  ASSERT_TRUE(hand.wait_for(1));
  known->note(first.name());
  EXPECT_EQ(listener->trouble(), "");
  EXPECT_TRUE(Stranger(listener->port(), "P").is_cut());
  EXPECT_EQ(listener->trouble(), "gRPC takes no connections: all that it may have are in use");
  hand.close_all();
  // It looks who is gone a moment after the last time.
  bool is_taken = false;
  for (int i = 0; i < 50 && !is_taken; ++i) {
    const Stranger again(listener->port(), "P");
    is_taken = hand.wait_for(1, std::chrono::milliseconds(200));
  }
  EXPECT_TRUE(is_taken);
  EXPECT_EQ(listener->trouble(), "");
}

// This process has no number for one more file while it lives.
class NoFilesLeft {
 public:
  NoFilesLeft() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few{64, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken_.push_back(fd);
  }
  ~NoFilesLeft() {
    for (int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void give_one_back() {
    ::close(taken_.back());
    taken_.pop_back();
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

// What the listener says within some seconds, if that is it.
std::string says(const GrpcListener& listener, const std::string& wanted) {
  for (int i = 0; i < 1'000 && listener.trouble() != wanted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return listener.trouble();
}

TEST(GrpcListener, SaysThatTheProcessHasNoFilesLeft) {
  const std::string trouble = "gRPC takes no connections: Too many open files";
  Hand hand;
  auto listener = listen({});
  listener->accept(hand.taker());
  std::unique_ptr<Stranger> waits;
  {
    NoFilesLeft none;
    none.give_one_back();
    waits = std::make_unique<Stranger>(listener->port());
    EXPECT_EQ(says(*listener, trouble), trouble);
  }
  EXPECT_TRUE(hand.wait_for(1)) << "it is let in as soon as there are some";
  EXPECT_EQ(says(*listener, ""), "");
}

// An agent's machine has one or two; somebody whose programs open thousands makes room first.
TEST(GrpcListener, WhereAllHaveProvedSomethingTheMachineWithTheMostMakesRoom) {
  constexpr size_t kAll = 20;
  Hand hand;
  auto known = std::make_shared<KnownPeers>();
  auto listener = listen({.connections = {.all = kAll}}, known);
  listener->accept(hand.taker());
  std::vector<std::unique_ptr<Stranger>> all;
  for (size_t i = 0; i < kAll; ++i) {
    all.push_back(std::make_unique<Stranger>(listener->port()));
    ASSERT_TRUE(hand.wait_for(i + 1));
    known->note(all.back()->name());
  }
  const Stranger one_more(listener->port());
  EXPECT_TRUE(all[0]->is_cut());
  EXPECT_TRUE(hand.wait_for(kAll + 1));
  EXPECT_FALSE(all[1]->is_cut(std::chrono::milliseconds(1)));
}

TEST(GrpcListener, WhereNobodyCanProveAnythingStrangersEndSoon) {
  Hand hand;
  std::atomic<bool> is_short = false;
  auto known = std::make_shared<KnownPeers>();
  auto listener =
      listen({.strangers_end_soon = [&] { return is_short.load(); }, .stranger_look = 10ms}, known);
  listener->accept(hand.taker());
  Stranger proven(listener->port());
  ASSERT_TRUE(hand.wait_for(1));
  known->note(proven.name());
  Stranger stranger(listener->port());
  ASSERT_TRUE(hand.wait_for(2));
  EXPECT_FALSE(stranger.is_cut(200ms)) << "it may still prove something";
  is_short = true;
  EXPECT_TRUE(stranger.is_cut());
  EXPECT_TRUE(Stranger(listener->port()).is_cut()) << "who comes later, too";
  EXPECT_FALSE(proven.is_cut(std::chrono::milliseconds(1)));
}

// Those that were silent at once are not in the table yet.
TEST(GrpcListener, ThoseThatWereSilentCountWhenTheySpeak) {
  Hand hand;
  auto listener = listen({.connections = {.all = 1}, .at_once = 0});
  listener->accept(hand.taker());
  Stranger first(listener->port());
  Stranger second(listener->port());
  first.say("P");
  ASSERT_TRUE(hand.wait_for(1));
  second.say("P");
  EXPECT_TRUE(first.is_cut());
}

// Who has an IPv6 network may come from any address of it, and is told once.
TEST(KnownPeers, TellsEachStrangersMachineOnce) {
  KnownPeers known;
  known.arrived("ipv4:10.0.0.7:1");
  for (int i = 1; i < 9; ++i) known.arrived(fmt::format("ipv6:%5B2001:db8::{}%5D:{}", i, i));
  EXPECT_EQ(known.hosts_of_strangers(), "[2001:db8::8] or 10.0.0.7");
}

class Table : public testing::Test {
 protected:
  ~Table() override {
    for (int fd : fds_) ::close(fd);
  }
  int add(ConnectionTable& table, const Origin& peer) {
    fds_.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    table.add(fds_.back(), peer);
    return fds_.back();
  }
  KnownPeers known_;
  std::vector<int> fds_;
};

TEST_F(Table, CountsAMachineAndForgetsWhatIsGone) {
  ConnectionTable table({.all = 10, .per_address = 2}, known_);
  const Origin one = origin_of("10.0.0.1", 1);
  const int fd = add(table, one);
  const int other = add(table, origin_of("10.0.0.1", 2));
  EXPECT_FALSE(table.has_room(one));
  EXPECT_TRUE(table.has_room(origin_of("10.0.0.2", 1)));
  table.look();
  EXPECT_FALSE(table.has_room(one)) << "both live";
  ::close(fd);
  table.look();
  EXPECT_TRUE(table.has_room(one));
  table.add(other, origin_of("10.0.0.2", 1));
  EXPECT_EQ(table.size(), 1u) << "a number that is seen again is another connection";
}

TEST_F(Table, AMachineWithTooManyMakesRoomItself) {
  ConnectionTable table({.all = 10, .per_address = 2}, known_);
  add(table, origin_of("10.0.0.9", 1));
  add(table, origin_of("10.0.0.1", 1));
  add(table, origin_of("10.0.0.1", 2));
  known_.note("ipv4:10.0.0.1:1");
  EXPECT_TRUE(table.make_room(origin_of("10.0.0.1", 3)));
  EXPECT_TRUE(table.has_room(origin_of("10.0.0.1", 3)));
  add(table, origin_of("10.0.0.1", 3));
  known_.note("ipv4:10.0.0.1:3");
  EXPECT_FALSE(table.make_room(origin_of("10.0.0.1", 4))) << "both have proved who they are";
  EXPECT_EQ(table.size(), 3u);
}

TEST_F(Table, OneNetworkOfIpv6IsOneMachine) {
  EXPECT_EQ(origin_of("2001:db8:1:2::7", 1).machine, origin_of("2001:db8:1:2:3:4:5:6", 2).machine);
  EXPECT_NE(origin_of("2001:db8:1:2::7", 1).machine, origin_of("2001:db8:1:3::7", 1).machine);
  EXPECT_EQ(origin_of("::ffff:10.0.0.1", 5).name, "ipv4:10.0.0.1:5");
  EXPECT_EQ(origin_of("::1", 5).name, "ipv6:%5B::1%5D:5");
  EXPECT_TRUE(origin_of("::ffff:127.0.0.1", 5).is_loopback);
}

TEST_F(Table, WhatACallNotesAfterItsConnectionIsForgotten) {
  ConnectionTable table({}, known_);
  add(table, origin_of("10.0.0.1", 1));
  known_.note("ipv4:10.0.0.1:1");
  known_.note("ipv4:10.0.0.2:1");
  table.look();
  EXPECT_TRUE(known_.knows("ipv4:10.0.0.1:1"));
  EXPECT_FALSE(known_.knows("ipv4:10.0.0.2:1"));
}

TEST(LogLimit, WritesSoManyAMinuteAndCountsTheRest) {
  LogLimit limit(2);
  const LogLimit::Clock::time_point began{std::chrono::hours(1)};
  EXPECT_EQ(limit.next(began), 0);
  EXPECT_EQ(limit.next(began), 0);
  EXPECT_EQ(limit.next(began + std::chrono::seconds(59)), std::nullopt);
  EXPECT_EQ(limit.next(began + std::chrono::seconds(60)), 1);
}

}  // namespace
}  // namespace hai
