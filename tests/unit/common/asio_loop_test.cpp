#include "common/asio_loop.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hai {
namespace {

// Stops the loop with a failure instead of hanging the test.
void give_up_after(AsioLoop& loop, Duration limit) {
  loop.call_after(limit, [&loop] {
    ADD_FAILURE() << "the loop did not finish in time";
    loop.stop();
  });
}

TEST(AsioLoop, RunsPostsInOrder) {
  AsioLoop loop;
  std::string order;
  loop.post([&] { order += 'a'; });
  loop.post([&] {
    order += 'b';
    loop.post([&] {
      order += 'd';
      loop.stop();
    });
  });
  loop.post([&] { order += 'c'; });
  loop.run();
  EXPECT_EQ(order, "abcd");
}

TEST(AsioLoop, TimersFireInTimeOrderAndNotEarly) {
  AsioLoop loop;
  give_up_after(loop, 30s);
  std::string order;
  const MonoTime start = loop.now();
  loop.call_after(20ms, [&] {
    order += 'b';
    EXPECT_GE(loop.now() - start, 20ms);
    loop.stop();
  });
  loop.call_after(1ms, [&] { order += 'a'; });
  EXPECT_NE(loop.call_after(0ms, [] {}), 0);
  loop.run();
  EXPECT_EQ(order, "ab");
}

// A time namespace stands for a machine that slept: its CLOCK_BOOTTIME is ahead of the other.
TEST(AsioLoop, NowCountsTheTimeThatTheMachineSlept) {
  if (::getuid() != 0 || ::unshare(CLONE_NEWTIME) != 0) GTEST_SKIP() << "needs root";
  if (!(std::ofstream("/proc/self/timens_offsets") << "boottime 1000 0\n" << std::flush))
    GTEST_SKIP() << "needs CAP_SYS_TIME";
  const MonoTime before = AsioLoop().now();
  const pid_t child = ::fork();  // The namespace is its children's.
  if (child == 0) ::_exit(AsioLoop().now() - before >= 1000s ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(AsioLoop, ACancelledTimerNeverFires) {
  AsioLoop loop;
  give_up_after(loop, 30s);
  const TimerId cancelled = loop.call_after(1ms, [] { ADD_FAILURE() << "cancelled"; });
  // Both are due in one turn: the first cancels the second although that is already queued.
  TimerId second = 0;
  loop.call_after(5ms, [&] { loop.cancel(second); });
  second = loop.call_after(5ms, [] { ADD_FAILURE() << "cancelled in its own turn"; });
  loop.cancel(cancelled);
  loop.cancel(0);
  loop.cancel(12345);
  loop.call_after(20ms, [&] { loop.stop(); });
  loop.post([&loop] {  // Late on purpose: all timers are due when the loop looks again.
    const MonoTime start = loop.now();
    while (loop.now() - start < 25ms) {
    }
  });
  loop.run();
}

TEST(AsioLoop, ATimerMayCancelItselfAndSetAnother) {
  AsioLoop loop;
  give_up_after(loop, 30s);
  int fired = 0;
  TimerId timer = 0;
  timer = loop.call_after(1ms, [&] {
    ++fired;
    loop.cancel(timer);
    loop.call_after(1ms, [&] {
      ++fired;
      loop.stop();
    });
  });
  loop.run();
  EXPECT_EQ(fired, 2);
}

TEST(AsioLoop, TakesPostsFromOtherThreads) {
  AsioLoop loop;
  give_up_after(loop, 60s);
  constexpr int kThreads = 4;
  constexpr int kPosts = 1000;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPosts; ++i) {
        loop.post([&] {
          if (++count == kThreads * kPosts) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kPosts);
}

TEST(AsioLoop, StopFromAnotherThreadAndRunAgain) {
  AsioLoop loop;
  std::thread stopper([&] { loop.stop(); });
  loop.run();
  stopper.join();
  bool ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(AsioLoop, DropsWhatIsLeftWhenItEnds) {
  const auto owned = std::make_shared<int>(1);
  {
    AsioLoop loop;
    loop.post([owned] { ADD_FAILURE(); });
    loop.call_after(1h, [owned] { ADD_FAILURE(); });
    EXPECT_EQ(owned.use_count(), 3);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(AsioLoop, WallClockIsPlausible) {
  AsioLoop loop;
  EXPECT_GT(loop.wall_now(), parse_rfc3339("2024-01-01T00:00:00Z").value());
}

TEST(AsioLoop, CallsBackOnEverySignal) {
  AsioLoop loop;
  give_up_after(loop, 30s);
  std::vector<int> seen;
  loop.on_signals({SIGUSR1, SIGUSR2}, [&](int signal) {
    seen.push_back(signal);
    if (seen.size() == 2)
      loop.stop();
    else
      raise(SIGUSR2);
  });
  loop.post([] { raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

TEST(AsioLoop, SharesItsContext) {
  AsioLoop loop;
  bool ran = false;
  boost::asio::post(loop.io_context(), [&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace hai
