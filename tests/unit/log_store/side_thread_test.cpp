#include "common/log_store/side_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "common/asio_loop.h"

namespace hai {
namespace {

TEST(SideThread, WorksBesideTheLoopAndAnswersOnIt) {
  AsioLoop loop;
  SideThread side(loop, 4);
  const std::thread::id of_loop = std::this_thread::get_id();
  std::thread::id worked, answered;
  ASSERT_TRUE(side.post([&]() -> SideThread::Answer {
    worked = std::this_thread::get_id();
    return [&] {
      answered = std::this_thread::get_id();
      loop.stop();
    };
  }));
  loop.run();
  EXPECT_TRUE(worked != of_loop);
  EXPECT_TRUE(answered == of_loop);
}

TEST(SideThread, RefusesWhatIsTooMuchAndIsLeftBehindWhenItHangs) {
  AsioLoop loop;
  auto started = std::make_shared<std::promise<void>>();
  auto release = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> has_ended = ended->get_future();
  bool answered = false;
  {
    SideThread side(loop, 2);
    ASSERT_TRUE(side.post([=, &answered, wait = release->get_future().share()] {
      started->set_value();
      wait.wait();
      ended->set_value();
      return SideThread::Answer([&answered] { answered = true; });
    }));
    started->get_future().wait();
    EXPECT_FALSE(side.is_idle());
    EXPECT_TRUE(side.post([] { return SideThread::Answer(); }));
    EXPECT_TRUE(side.post([] { return SideThread::Answer(); }));
    EXPECT_FALSE(side.post([] { return SideThread::Answer(); }));
  }
  // The owner is gone, the work is not: when it ends at last nobody is told.
  release->set_value();
  has_ended.wait();
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace hai
