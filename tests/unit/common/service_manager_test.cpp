#include "common/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "sim/virtual_loop.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What systemd is to a program: a socket and a few variables.
class ServiceManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = testing::TempDir() + "notify_" + std::to_string(::getpid());
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(path.c_str());
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    ASSERT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    path_ = path;
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}) ::unsetenv(name);
    ::close(socket_);
    ::unlink(path_.c_str());
  }

  static void ask_for_watchdog(Duration patience) {
    ::setenv("WATCHDOG_USEC", std::to_string(patience.count()).c_str(), 1);
  }

  std::vector<std::string> heard() {
    std::vector<std::string> messages;
    std::array<char, 256> text{};
    for (ssize_t size = 0; (size = ::recv(socket_, text.data(), text.size(), 0)) > 0;) {
      messages.emplace_back(text.data(), static_cast<size_t>(size));
    }
    return messages;
  }

  void pass(Duration time) { timeline_.run_until(timeline_.now() + time); }

  int socket_ = -1;
  std::string path_;
  Timeline timeline_;
  VirtualLoop loop_{timeline_};
};

TEST_F(ServiceManagerTest, IsToldOfEachStep) {
  ServiceManager manager(loop_);
  EXPECT_THAT(heard(), IsEmpty());
  manager.ready();
  EXPECT_THAT(heard(), ElementsAre("READY=1"));
  manager.reload([this] { EXPECT_THAT(heard(), ElementsAre("RELOADING=1")); });
  EXPECT_THAT(heard(), ElementsAre("READY=1"));
  manager.stopping();
  EXPECT_THAT(heard(), ElementsAre("STOPPING=1"));
  pass(10min);
  EXPECT_THAT(heard(), IsEmpty());  // nobody has asked for a watchdog
}

TEST_F(ServiceManagerTest, FeedsTheWatchdogTwiceInItsPatience) {
  ask_for_watchdog(10s);
  ServiceManager manager(loop_);
  pass(1min);
  EXPECT_THAT(heard(), IsEmpty());  // it is not ready
  manager.ready();
  EXPECT_THAT(heard(), ElementsAre("READY=1", "WATCHDOG=1"));
  pass(10s);
  EXPECT_THAT(heard(), ElementsAre("WATCHDOG=1", "WATCHDOG=1"));
  manager.stopping();
  pass(5s);
  EXPECT_THAT(heard(), ElementsAre("STOPPING=1", "WATCHDOG=1"));
}

TEST_F(ServiceManagerTest, LeavesTheWatchdogOfAHungLoopHungry) {
  ask_for_watchdog(10s);
  ServiceManager manager(loop_);
  manager.ready();
  heard();
  loop_.pause(1min);
  pass(59s);
  EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(ServiceManagerTest, IsSilentWhereNobodyListens) {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager manager(loop_);
  manager.ready();
  manager.stopping();
  EXPECT_THAT(heard(), IsEmpty());
}

}  // namespace
}  // namespace hai
