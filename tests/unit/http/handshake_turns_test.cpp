#include "server/http/handshake_turns.h"

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>

namespace hai {
namespace {

class HandshakeTurnsTest : public testing::Test {
 protected:
  // Everything that is ready, and no more: what the server's thread does between two steps.
  void run_ready() {
    std::deque<std::function<void()>> ready;
    ready.swap(posted_);
    for (const auto& each : ready) each();
  }
  HandshakeTurns::Waiting wait(const std::string& machine, const std::string& name) {
    return turns_.wait(machine, [this, name](bool is_given_up) {
      done_ += is_given_up ? "(" + name + ")" : name;
    });
  }

  std::deque<std::function<void()>> posted_;
  HandshakeTurns turns_{[this](std::function<void()> each) { posted_.push_back(std::move(each)); }};
  std::string done_;
};

TEST_F(HandshakeTurnsTest, GoByAddressAndAreOneStepAtATime) {
  for (int i = 0; i < 100; ++i) wait("10.0.0.1", "f");
  run_ready();
  run_ready();
  EXPECT_EQ(done_, "ff") << "other things are done between two steps";
  wait("10.0.0.2", "a");
  run_ready();
  run_ready();
  EXPECT_NE(done_.find('a'), std::string::npos) << done_;
  EXPECT_EQ(done_.size(), 4u);
}

TEST_F(HandshakeTurnsTest, ThoseGivenUpAreToldAndTakeNoTurn) {
  const auto first = wait("10.0.0.1", "1");
  const auto second = wait("10.0.0.1", "2");
  wait("10.0.0.1", "3");
  turns_.give_up(first);
  turns_.give_up(second);
  EXPECT_EQ(done_, "") << "not from within the call";
  run_ready();
  EXPECT_EQ(done_, "3(1)(2)");
  turns_.give_up(first);
  run_ready();
  EXPECT_TRUE(posted_.empty());
  EXPECT_EQ(done_, "3(1)(2)");
}

TEST_F(HandshakeTurnsTest, GoOnAfterAStepThatThrows) {
  turns_.wait("10.0.0.1", [](bool) { throw std::runtime_error("odd library"); });
  wait("10.0.0.1", "2");
  EXPECT_THROW(run_ready(), std::runtime_error);
  run_ready();
  EXPECT_EQ(done_, "2");
}

}  // namespace
}  // namespace hai
