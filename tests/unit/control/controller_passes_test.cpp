// Planning takes time of the loop's thread, which reports and commands need as well.

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

// Each pass takes this long, and is noted.
class SlowPlanner final : public Planner {
 public:
  SlowPlanner(SlowLoop& loop, Duration takes, std::vector<MonoTime>& passes)
      : loop_(loop), takes_(takes), passes_(passes) {}
  void update(const ClusterState& state, const Changes& changes) override {
    inner_->update(state, changes);
  }
  Plan pass(const ClusterState& state, const Knobs& knobs, UnixTime now) override {
    passes_.push_back(loop_.now());
    loop_.taken += takes_;
    return inner_->pass(state, knobs, now);
  }
  PendingReason pending_reason(const ClusterState& state, const Job& job) const override {
    return inner_->pending_reason(state, job);
  }

 private:
  SlowLoop& loop_;
  Duration takes_;
  std::vector<MonoTime>& passes_;
  std::unique_ptr<Planner> inner_ = make_planner();
};

// A quota is set each 10 ms, so that each turn changes what the plan goes by.
struct Busy {
  ControllerWorld w;
  SlowLoop loop{w.timeline};
  MemStore store{loop, w.database, "a"};
  FakeAgents agents{w.timeline};
  std::vector<MonoTime> passes;
  Controller controller;

  explicit Busy(Duration takes)
      : controller(loop, store, agents, nullptr, w.knobs, w.bootstrap, "test",
                   std::make_unique<SlowPlanner>(loop, takes, passes)) {
    controller.start();
    w.run(1s);
    for (int i = 0; i < 100; ++i) {
      controller.submit({.trusted_user = "ann"}, SetQuota{{"ann", "dev", Priority::low, i}},
                        [](const Result<CommandReply>&) {});
      w.run(10ms);
    }
  }
};

TEST(Passes, LeaveMostOfTheThreadToOthers) {
  Busy busy(30ms);
  ASSERT_GT(busy.passes.size(), 5U);
  for (size_t i = 1; i < busy.passes.size(); ++i) {
    EXPECT_GE(busy.passes[i] - busy.passes[i - 1], 4 * 30ms) << i;
  }
  const MonoTime end = busy.loop.now();
  EXPECT_LT(end - busy.passes.back(), 1s) << "and go on";
}

TEST(Passes, AreSparedByTheKnobWhenTheyAreShort) {
  Busy busy(0ms);
  EXPECT_GT(busy.passes.size(), 90U) << "each of a hundred changes is planned for at once";
}

TEST(Passes, AreCountedByHowLongTheyTook) {
  Busy busy(30ms);
  const ControllerStats& stats = busy.controller.stats();
  EXPECT_EQ(stats.passes, static_cast<int64_t>(busy.passes.size()));
  EXPECT_EQ(stats.last_pass, 30ms);
  EXPECT_EQ(stats.passes_total, stats.passes * Duration(30ms));
  EXPECT_EQ(stats.pass_lengths[8], stats.passes) << "above 20 ms, up to 50";
}

}  // namespace
}  // namespace hai::test
