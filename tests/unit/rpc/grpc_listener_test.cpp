// Floods of connections, on loopback, against a real gRPC server: whoever comes after them is
// served.

#include "server/rpc/grpc_listener.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "hai/v1/api.grpc.pb.h"
#include "tests/support/live_server.h"

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
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  ~Stranger() { ::close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  // Waits until the other side has closed it.
  bool is_cut() {
    timeval timeout{.tv_sec = 10};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    char byte = 0;
    return ::recv(fd_, &byte, 1, 0) <= 0;
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

std::unique_ptr<GrpcListener> listen(ListenerLimits limits) {
  Result<std::unique_ptr<GrpcListener>> listener = GrpcListener::open("127.0.0.1:0", limits);
  EXPECT_TRUE(listener.is_ok()) << listener.status().message();
  return std::move(listener).value();
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

TEST(GrpcListener, TakesNoMoreThanItsLimitUntilSomeAreGone) {
  Hand hand;
  auto listener = listen({.connections = {.all = 2}});
  listener->accept(hand.taker());
  const Stranger first(listener->port(), "P");
  const Stranger second(listener->port(), "P");
  EXPECT_TRUE(hand.wait_for(2));
  EXPECT_TRUE(Stranger(listener->port(), "P").is_cut());
  hand.close_all();
  // It looks who is gone a moment after the last time.
  bool is_taken = false;
  for (int i = 0; i < 50 && !is_taken; ++i) {
    const Stranger again(listener->port(), "P");
    is_taken = hand.wait_for(1, std::chrono::milliseconds(200));
  }
  EXPECT_TRUE(is_taken);
}

TEST(ConnectionTable, CountsAnAddressAndForgetsWhatIsGone) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ConnectionTable table({.all = 10, .per_address = 2});
  table.add(pair[0], "10.0.0.1");
  table.add(pair[1], "10.0.0.1");
  EXPECT_FALSE(table.has_room("10.0.0.1"));
  EXPECT_TRUE(table.has_room("10.0.0.2"));
  table.look();
  EXPECT_FALSE(table.has_room("10.0.0.1")) << "both live";
  ::close(pair[0]);
  table.look();
  EXPECT_TRUE(table.has_room("10.0.0.1"));
  table.add(pair[1], "10.0.0.2");
  EXPECT_EQ(table.size(), 1u) << "a number that is seen again is another connection";
  ::close(pair[1]);
}

TEST(GrpcFlood, KeepsNobodyOut) {
  LiveServer server;
  const std::string address = server.grpc_address();
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  std::vector<std::unique_ptr<Stranger>> flood;
  for (int i = 0; i < 1'500; ++i) flood.push_back(std::make_unique<Stranger>(port));
  for (int i = 0; i < 200; ++i)
    flood.push_back(std::make_unique<Stranger>(port, "nonsense\r\n\r\n"));
  auto stub = v1::Api::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  context.AddMetadata("authorization", std::string("Bearer ") + LiveServer::kAdminToken);
  v1::WhoAmIReply reply;
  const grpc::Status status = stub->WhoAmI(&context, {}, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

}  // namespace
}  // namespace hai
