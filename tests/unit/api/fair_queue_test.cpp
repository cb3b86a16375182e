// Whose turn it is when many ask for much: the order itself, the way to the loop, the worker of
// long questions, and how many of one person are let in at all.

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <map>
#include <random>

#include "server/api/admission.h"
#include "server/api/call_queue.h"
#include "server/api/fair_order.h"
#include "server/api/question_worker.h"

namespace hai {
namespace {

using Order = FairOrder<std::string>;

// Who is served, in order, if each piece of work costs what `cost` says.
template <typename Cost>
std::string serve(Order& order, size_t count, Cost cost) {
  std::string served;
  while (count-- > 0) {
    const std::optional<std::string> work = order.pop();
    if (!work) break;
    served += *work;
    order.charge(cost(*work));
  }
  return served;
}

TEST(FairOrder, WhoAsksOnceWaitsForOneOfTheOthers) {
  Order order;
  for (int i = 0; i < 1'000; ++i) order.push("flood", "f");
  EXPECT_EQ(serve(order, 5, [](const auto&) { return 1ms; }), "fffff");
  order.push("ann", "a");
  EXPECT_EQ(serve(order, 2, [](const auto&) { return 1ms; }), "af");
  EXPECT_EQ(order.size(), 994u);
  EXPECT_EQ(order.waiting_of("flood"), 994u);
  EXPECT_EQ(order.waiting_of("ann"), 0u);
}

TEST(FairOrder, IsByWhatWorkCostsAndNotByItsCount) {
  Order order;
  for (int i = 0; i < 100; ++i) {
    order.push("long", "l");
    order.push("short", "s");
  }
  const std::string served =
      serve(order, 55, [](const std::string& work) { return work == "l" ? 10ms : 1ms; });
  EXPECT_EQ(std::count(served.begin(), served.end(), 'l'), 5) << served;
}

TEST(FairOrder, KeepsThePlaceOfEachPersonsOwn) {
  Order order;
  for (const char* work : {"1", "2", "3"}) order.push("ann", work);
  EXPECT_EQ(serve(order, 9, [](const auto&) { return 1us; }), "123");
  EXPECT_FALSE(order.pop().has_value());
}

TEST(FairOrder, WhoWasAwayIsNotGivenWhatHeDidNotUse) {
  Order order;
  for (int i = 0; i < 50; ++i) order.push("flood", "f");
  serve(order, 40, [](const auto&) { return 1ms; });
  for (int i = 0; i < 50; ++i) order.push("late", "l");
  // Both have as much from now on: the late one has no 40 ms ahead.
  const std::string served = serve(order, 10, [](const auto&) { return 1ms; });
  EXPECT_EQ(std::count(served.begin(), served.end(), 'l'), 5) << served;
}

TEST(FairOrder, WhoComesAgainWhileHeIsServedIsInLineOnce) {
  Order order;
  order.push("ann", "1");
  EXPECT_EQ(order.pop(), "1");
  order.push("ann", "2");
  order.push("bob", "b");
  order.charge(1ms);
  EXPECT_EQ(serve(order, 9, [](const auto&) { return 1ms; }), "b2");
}

// Whoever has waited all the time has had what others had, but for one piece of work of each.
TEST(FairOrder, ForgetsWhoHasLeftWhileOthersWait) {
  Order order;
  order.push("flood", "f");
  for (int i = 0; i < 20'000; ++i) {
    order.push("flood", "f");
    order.push("guest " + std::to_string(i), "g");
    EXPECT_EQ(serve(order, 2, [](const auto&) { return 1ms; }).size(), 2u);
  }
  EXPECT_LT(order.people(), 3'000u);
}

TEST(FairOrder, NobodyIsBehindByMoreThanOnePieceOfWork) {
  std::mt19937 random(20'261'125);
  for (int round = 0; round < 50; ++round) {
    Order order;
    const int people = std::uniform_int_distribution<>(2, 6)(random);
    for (int i = 0; i < people; ++i) {
      for (int n = 0; n < 2'000; ++n) order.push(std::to_string(i), std::to_string(i));
    }
    std::map<std::string, Duration> had;
    Duration longest{};
    for (int n = 0; n < 1'500; ++n) {
      const std::string who = *order.pop();
      const Duration cost(
          std::uniform_int_distribution<>(1, 1 + 1'000 * (who.back() - '0'))(random));
      longest = std::max(longest, cost);
      had[who] += cost;
      order.charge(cost);
    }
    for (int i = 1; i < people; ++i) {
      EXPECT_LE(std::chrono::abs(had[std::to_string(i)] - had["0"]), 2 * longest);
    }
  }
}

// Its time passes when it is told to.
class StepLoop final : public Loop {
 public:
  MonoTime now() const override { return now_; }
  UnixTime wall_now() const override { return {}; }
  void post(std::function<void()> callback) override { posted_.push_back(std::move(callback)); }
  TimerId call_after(Duration, std::function<void()>) override { return 1; }
  void cancel(TimerId) override {}

  void spend(Duration time) { now_ += time; }
  void run() {
    while (!posted_.empty()) {
      const std::function<void()> callback = std::move(posted_.front());
      posted_.pop_front();
      callback();
    }
  }

 private:
  MonoTime now_{};
  std::deque<std::function<void()>> posted_;
};

TEST(CallQueue, LetsTheLoopDoOtherThingsBetweenCalls) {
  StepLoop loop;
  CallQueue queue(loop);
  std::string done;
  for (int i = 0; i < 20; ++i) {
    queue.post("ann", [&] {
      done += 'c';
      loop.spend(1ms);
    });
  }
  loop.post([&] { done += '|'; });
  loop.run();
  EXPECT_EQ(done, "ccccc|" + std::string(15, 'c')) << "after 5 ms of calls others are due";
}

TEST(CallQueue, RunsWhatIsLeftWhenAServerStopsAndNothingAfterItIsGone) {
  StepLoop loop;
  int calls = 0;
  {
    CallQueue queue(loop);
    for (int i = 0; i < 3; ++i) queue.post(std::to_string(i), [&] { ++calls; });
    queue.run_all();
    EXPECT_EQ(calls, 3);
    queue.post("late", [&] { ++calls; });
  }
  loop.run();
  EXPECT_EQ(calls, 3);
}

TEST(Admission, LeavesRoomForOthersWhoeverFloods) {
  using Kind = Admission::Kind;
  Admission admission;
  std::vector<std::shared_ptr<Admitted>> inside;
  const auto flood = [&](const std::string& user) {
    int64_t count = 0;
    for (; auto one = admission.enter(Kind::submit, user, 1); ++count) inside.push_back(one);
    return count;
  };
  EXPECT_EQ(flood("one"), Admission::kSubmitsMax / 2);
  EXPECT_TRUE(admission.enter(Kind::other, "one", 1)) << "calls that only look have more places";
  const int64_t second = flood("two");
  EXPECT_EQ(second, Admission::kSubmitsMax / 4);
  EXPECT_TRUE(admission.enter(Kind::submit, "three", second)) << "as much is left as he has";
  EXPECT_FALSE(admission.enter(Kind::submit, "one", 1));
  EXPECT_NE(admission.refusal("one").find("10000 of them yours"), std::string::npos)
      << admission.refusal("one");
}

TEST(Admission, OneAloneMayBeLargerThanAllThatMayWait) {
  Admission admission;
  const auto large = admission.enter(Admission::Kind::submit, "ann", Admission::kAllMax);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(admission.enter(Admission::Kind::submit, "bob", 1), nullptr);
  EXPECT_EQ(admission.refused(), 1);
  large->release();
  EXPECT_EQ(admission.under_way(), 0);
  large->release();
  EXPECT_EQ(admission.under_way(), 0) << "once is enough";
}

TEST(Admission, ALongMessageTakesMorePlaces) {
  EXPECT_EQ(Admission::weight(0, 100), 1);
  EXPECT_EQ(Admission::weight(500, 100), 500);
  EXPECT_EQ(Admission::weight(1, 4 << 20), 257);
}

TEST(Admission, WhatWasLetInMayOutliveIt) {
  auto admission = std::make_unique<Admission>();
  auto first = admission->enter(Admission::Kind::other, "ann", 1);
  auto second = admission->enter(Admission::Kind::other, "ann", 1);
  first.reset();
  EXPECT_EQ(admission->under_way(), 1);
  admission.reset();
  second.reset();
}

TEST(QuestionWorker, LeavesRoomForOthersAndLetsThemTakeTurns) {
  std::promise<void> go_on;
  std::shared_future<void> gate(go_on.get_future());
  std::promise<void> began;
  std::promise<void> ended;
  std::string order;  // on the worker's thread
  {
    QuestionWorker worker;
    ASSERT_TRUE(worker.post([&] {
      began.set_value();
      gate.wait();
    }));
    began.get_future().wait();
    int flood = 0;
    while (worker.post([&] { order += 'f'; }, "flood")) ++flood;
    EXPECT_EQ(flood, QuestionWorker::kWaitingMax / 2);
    ASSERT_TRUE(worker.post([&] { order += 'a'; }, "ann"));
    ASSERT_TRUE(worker.post([&] { order += '.'; }));
    int rest = 0;
    while (worker.post([&] {})) ++rest;
    EXPECT_EQ(rest, QuestionWorker::kWaitingMax / 2 - 2) << "what is nobody's own may have all";
    worker.post([] {}, "late");
    go_on.set_value();
    while (!worker.is_idle()) std::this_thread::yield();
  }
  EXPECT_LT(order.find('a'), 3u) << order;
}

}  // namespace
}  // namespace hai
