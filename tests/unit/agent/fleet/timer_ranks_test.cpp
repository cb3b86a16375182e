#include "agent/fleet/timer_ranks.h"

#include <gtest/gtest.h>

#include "sim/virtual_loop.h"

namespace hai {
namespace {

class TimerRanksTest : public ::testing::Test {
 protected:
  TimerRanksTest() {
    ranks_.set_listener([this](const RankStatus& status) { heard_.push_back(status); });
  }
  void launch(const std::string& parameters, Duration lease = 1h) {
    LaunchRank order;
    order.key = kKey;
    order.entrypoint = "sleep";
    order.parameters = parameters;
    ranks_.launch(order, loop_.now() + lease);
  }
  // Phases and causes heard since the last call, after so long.
  std::vector<std::pair<RankPhase, ExitCause>> after(Duration wait) {
    timeline_.run_until(timeline_.now() + wait);
    std::vector<std::pair<RankPhase, ExitCause>> changes;
    for (const RankStatus& status : std::exchange(heard_, {})) {
      changes.emplace_back(status.phase, status.cause);
    }
    return changes;
  }
  using Changes = std::vector<std::pair<RankPhase, ExitCause>>;
  static constexpr std::pair<RankPhase, ExitCause> kRunning{RankPhase::running, ExitCause::none};
  static std::pair<RankPhase, ExitCause> exited(ExitCause cause) {
    return {RankPhase::exited, cause};
  }

  static constexpr RankKey kKey{JobId{1}, 1, 0};
  Timeline timeline_;
  VirtualLoop loop_{timeline_};
  LaunchHabit habit_;
  TimerRanks ranks_{loop_, habit_, std::nullopt};
  std::vector<RankStatus> heard_;
};

TEST_F(TimerRanksTest, RunAsLongAsTheirProgramWould) {
  launch("5");
  EXPECT_EQ(after(4s), Changes{kRunning});
  EXPECT_EQ(after(2s), Changes{exited(ExitCause::program)});
}

TEST_F(TimerRanksTest, EndAtTheirFenceUnlessItMoves) {
  launch("3600", 10s);
  EXPECT_EQ(after(9s), Changes{kRunning});
  ranks_.extend_leases(loop_.now() + 5s);
  EXPECT_EQ(after(4s), Changes{});
  EXPECT_EQ(after(2s), Changes{exited(ExitCause::fenced)});
}

TEST_F(TimerRanksTest, AreGoneWhenSuspendedOrKilled) {
  launch("3600");
  after(1s);
  ranks_.suspend({kKey, 60s});
  EXPECT_EQ(ranks_.living(), 1U);
  EXPECT_EQ(after(1s), Changes{exited(ExitCause::go_suspend)});
  EXPECT_EQ(ranks_.living(), 0U);
  ranks_.kill(kKey);
  EXPECT_EQ(after(1s), Changes{}) << "it is gone already";
  ranks_.forget(kKey);
}

TEST_F(TimerRanksTest, ASlowLaunchCanBeKilledBeforeItHasBegun) {
  habit_.delay = 5s;
  launch("3600");
  EXPECT_EQ(after(4s), Changes{});
  ranks_.kill(kKey);
  EXPECT_EQ(after(10s), Changes{exited(ExitCause::killed)});
}

TEST_F(TimerRanksTest, AFailingLaunchSaysWhy) {
  habit_.failure = "broken disk";
  launch("3600");
  timeline_.run_until(timeline_.now() + 1s);
  ASSERT_EQ(heard_.size(), 1U);
  EXPECT_EQ(heard_[0].cause, ExitCause::launch_failed);
  EXPECT_EQ(heard_[0].message, "broken disk");
}

}  // namespace
}  // namespace hai
