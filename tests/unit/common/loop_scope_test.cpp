#include "common/loop_scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/asio_loop.h"

namespace hai {
namespace {

// Runs what is queued now.
void run_queued(AsioLoop& loop) {
  loop.post([&loop] { loop.stop(); });
  loop.run();
}

TEST(LoopScope, WhatIsBoundRunsWhileItLives) {
  LoopScope scope;
  std::string told;
  const auto tell = scope.bind([&](const std::string& word, int count) {
    told = word;
    return count + 1;
  });
  EXPECT_EQ(tell("once", 1), 2);
  EXPECT_EQ(told, "once");
}

TEST(LoopScope, WhatIsBoundDoesNothingAfterIt) {
  auto scope = std::make_unique<LoopScope>();
  int calls = 0;
  const auto count = scope->bind([&] { return ++calls; });
  scope.reset();
  EXPECT_EQ(count(), 0) << "the value an int begins with";
  EXPECT_EQ(calls, 0);
}

TEST(LoopScope, ANewPartKnowsNothingOfTheOldOne) {
  AsioLoop loop;
  LoopScope scope;
  std::string told;
  loop.post(scope.bind([&] { told += "old "; }));
  scope.renew();
  loop.post(scope.bind([&] { told += "new"; }));
  run_queued(loop);
  EXPECT_EQ(told, "new");
}

TEST(LoopScope, ACallbackMayEndItsOwnScope) {
  auto scope = std::make_unique<LoopScope>();
  const auto shared = std::make_shared<int>(7);
  int seen = 0;
  const auto end = scope->bind([&, shared] {
    scope.reset();
    seen = *shared;
  });
  end();
  end();
  EXPECT_EQ(seen, 7);
}

TEST(LoopTimer, FiresOnce) {
  AsioLoop loop;
  LoopTimer timer(loop);
  int fired = 0;
  timer.arm(Duration{0}, [&] {
    ++fired;
    EXPECT_FALSE(timer.is_armed());
    loop.stop();
  });
  EXPECT_TRUE(timer.is_armed());
  loop.run();
  EXPECT_EQ(fired, 1);
}

TEST(LoopTimer, ArmedAgainItForgetsWhatItWasArmedFor) {
  AsioLoop loop;
  LoopTimer timer(loop);
  std::string told;
  timer.arm(Duration{0}, [&] { told += "first "; });
  timer.arm(1ms, [&] {
    told += "second";
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(told, "second");
}

TEST(LoopTimer, MayBeArmedByWhatItCalls) {
  AsioLoop loop;
  LoopTimer timer(loop);
  int fired = 0;
  std::function<void()> again = [&] {
    if (++fired == 3) return loop.stop();
    timer.arm(Duration{0}, again);
  };
  timer.arm(Duration{0}, again);
  loop.run();
  EXPECT_EQ(fired, 3);
}

TEST(LoopTimer, CancelledOrGoneItNeverFires) {
  AsioLoop loop;
  int fired = 0;
  LoopTimer cancelled(loop);
  cancelled.arm(Duration{0}, [&] { ++fired; });
  cancelled.cancel();
  {
    LoopTimer gone(loop);
    gone.arm(Duration{0}, [&] { ++fired; });
  }
  LoopTimer last(loop);
  last.arm(1ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(fired, 0);
}

}  // namespace
}  // namespace hai
