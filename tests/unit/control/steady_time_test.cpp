// Decisions' time: steady though the wall clock jumps; and terms whose time is over.

#include "server/control/engine/steady_time.h"

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

constexpr UnixTime kNoon = VirtualLoop::kWallStart;
constexpr MonoTime kStart{};

TEST(SteadyTime, FollowsTheMonotonicClockWhenTheWallClockJumps) {
  for (const Duration jump : {Duration(12h), -Duration(12h)}) {
    SteadyTime time;
    time.start(kNoon, {}, kStart);
    const UnixTime later = time.at(kNoon + 10s + jump, kStart + 10s);
    EXPECT_GE(later, kNoon + 9s);
    EXPECT_LE(later, kNoon + 11s);
  }
}

TEST(SteadyTime, ComesBackToTheWallClock) {
  SteadyTime time;
  time.start(kNoon, {}, kStart);
  for (int second = 1; second <= 60; ++second) {
    time.at(kNoon + 1s * second + 2s, kStart + 1s * second);
  }
  EXPECT_EQ(time.at(kNoon + 63s, kStart + 61s), kNoon + 63s);
}

TEST(SteadyTime, BeginsNoEarlierThanWhatHasHappened) {
  SteadyTime time;
  time.start(kNoon, kNoon + 1h, kStart);
  EXPECT_GT(time.at(kNoon + 1s, kStart + 1s), kNoon + 1h);
}

// Clock jumps of a dead leader made jobs wait for hours under the next one (sim seed 1337).
TEST(SteadyTime, TheNewestTimeIsOfJobsAndAttempts) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.connect(*a, 1, "node-1");
  auto accepted = submit(*a, job("j").nodes(1));
  w.run(1s);
  ASSERT_TRUE(accepted->is_ok());
  const Job& placed = *a->controller.state().find_unfinished("ann", "j");
  ASSERT_TRUE(placed.attempt.has_value());
  EXPECT_EQ(newest_time(a->controller.state()), placed.attempt->placed_at);
}

TEST(SteadyTime, TheNewestTimeMayBeOfAnythingThatIsKept) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId runs = c.run(job("runs"), {"node-1"});
  EXPECT_EQ(newest_time(c.state()), c.now);
  const JobId waits = c.advance(1min).submit(job("waits"));
  EXPECT_EQ(newest_time(c.state()), c.now) << "submitted_at";
  c.advance(1min).emit(NodesReserved{waits, {c.on({"node-2"}), Priority::normal, {}, c.now}});
  EXPECT_EQ(newest_time(c.state()), c.now) << "reservation";
  c.emit(ReservationDropped{waits, "test"});
  c.advance(1min).place(waits, c.on({"node-2"}));
  EXPECT_EQ(newest_time(c.state()), c.now) << "placed_at";
  c.advance(1min).confirm(waits);
  EXPECT_EQ(newest_time(c.state()), c.now) << "running_at";
  c.advance(1min).leave(waits);
  EXPECT_EQ(newest_time(c.state()), c.now) << "the attempt's end";
  c.advance(1min).finish(waits, JobState::stopped);
  EXPECT_EQ(newest_time(c.state()), c.now) << "the job's end";
  c.advance(1min).emit(AttemptSuspending{runs, 1, c.now + 1min, {}, "test"});
  EXPECT_LT(newest_time(c.state()), c.now) << "nothing tells when";
}

// A fault that was stamped hours ahead stayed "recent": each failure of a job there was taken for
// the node's, and the job ran and failed for hours (sim seed 895429781).
TEST(SteadyTime, TheNewestTimeMayBeOfANodesHealth) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const NodeId node = c.on({"node-1"}).front().node;
  const auto expect_newest = [&c](const char* what) {
    EXPECT_EQ(newest_time(c.state()), c.now) << what;
  };
  const CheckResult fault{
      .name = "gpu_xid", .verdict = CheckVerdict::fail, .tier = HealthTier::evict};
  c.advance(1min).emit(NodeCheckChanged{node, fault});
  expect_newest("a check");
  c.advance(1min).emit(NodeMarked{node, MarkKind::evict, "gpu_xid", JobId{}});
  expect_newest("a mark");
  c.advance(1min).emit(NodeRepairChanged{node, {.step = RepairStep::validating}});
  expect_newest("a repair");
  c.advance(1min).emit(NodeValidated{.node = node, .passed = false});
  expect_newest("a validation");
  c.advance(1min).emit(IncidentOpened{{1}, "test", "cluster", "text", {node}});
  expect_newest("an incident");
  c.advance(1min).emit(IncidentNoted{{1}, "text"});
  expect_newest("a note");
}

// The acquire was done at once and answered when another server had led already: beginning that
// term broke an invariant of the state.
TEST(Term, WonLongAgoIsNoTerm) {
  ControllerWorld w;
  w.database.hooks.way_there = [](Duration whole) { return std::min(whole, Duration(1ms)); };
  w.latency = 10s;
  auto a = w.server("a");
  a->controller.start();
  w.run(5ms);
  w.latency = 0s;
  auto b = w.server("b");
  b->controller.start();
  w.run(5s);
  ASSERT_TRUE(b->controller.is_leading());
  w.run(10s);
  EXPECT_FALSE(a->controller.is_leading());
  EXPECT_TRUE(b->controller.is_leading());
}

// By its own clock alone, it would have ended each job whose time limit was within the hour.
TEST(Term, BeginsWithTheStoresTimeWhenTheServersClockIsAhead) {
  ControllerWorld w;
  auto a = w.leader("a");
  w.run(1min);
  a.reset();
  auto b = w.server("b");
  b->clock.wall_skew = 1h;
  b->controller.start();
  w.run(1min);
  ASSERT_TRUE(b->controller.is_leading());
  EXPECT_EQ(b->controller.ahead_of_store(), 1h);
  w.connect(*b, 1, "node-1");
  auto accepted = submit(*b, job("j").nodes(1));
  w.run(1s);
  ASSERT_TRUE(accepted->is_ok());
  const UnixTime at = b->controller.state().find_unfinished("ann", "j")->submitted_at;
  const UnixTime now = w.database_loop.wall_now();
  EXPECT_GE(at, now - 5s);
  EXPECT_LE(at, now + 3s) << "in a minute it may be drawn so far towards its own clock";
}

// A commit that waited for a replica was taken for a clock that was ahead, and jobs ended before
// they had (tests/e2e/ha_store).
TEST(Term, ALateAnswerOfTheStoreIsNoWrongClock) {
  ControllerWorld w;
  w.database.hooks.way_there = [](Duration whole) { return std::min(whole, Duration(1ms)); };
  w.latency = 1'500ms;
  auto a = w.server("a");
  a->controller.start();
  w.run(1'600ms);
  w.latency = 0s;
  w.run(2s);
  ASSERT_TRUE(a->controller.is_leading());
  EXPECT_EQ(a->controller.ahead_of_store(), 0s);
  w.connect(*a, 1, "node-1");
  auto accepted = submit(*a, job("j").nodes(1));
  w.run(10ms);
  ASSERT_TRUE(accepted->is_ok());
  const UnixTime at = a->controller.state().find_unfinished("ann", "j")->submitted_at;
  EXPECT_GE(at, w.database_loop.wall_now() - 100ms);
}

}  // namespace
}  // namespace hai::test
