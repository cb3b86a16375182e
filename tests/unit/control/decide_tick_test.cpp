// What only the passing of time brings about.

#include "server/control/engine/decide_tick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

struct Clocked {
  Cluster c = cluster(nodes(2, gpus(8)));
  Sessions sessions;
  MonoTime mono{1000s};
  Clocked() {
    sessions.set_term_start(mono);
    contact("node-1");
    contact("node-2");
  }
  void contact(const std::string& node) { sessions.set_contact(c.node_id(node), mono); }
  void advance(Duration time) {
    mono += time;
    c.advance(time);
    contact("node-2");
    tick();
  }
  void tick() {
    c.decide_with([&](Decision& decision) { decide_tick(decision, sessions, mono); });
  }
};

TEST(Silence, MakesANodeSuspectAfterTwoMissedHeartbeatsAndDownAfterTheLimit) {
  Clocked t;
  JobId id = t.c.run(job("j"), {"node-1"});
  t.advance(2 * t.c.knobs.heartbeat + 1s);
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::up);
  t.advance(1us);
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::suspect);
  EXPECT_TRUE(t.c.attempt(id).is_live());
  t.advance(t.c.knobs.down_after - 2 * t.c.knobs.heartbeat - 1s - 1us);
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::suspect) << "it may still be in its lease";
  t.advance(1us);
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::down);
  EXPECT_EQ(t.c.attempt(id).state, AttemptState::lost);
  EXPECT_EQ(t.c.node("node-2").liveness, Liveness::up);
}

TEST(Inactive, UsersJobsAreAskedToLeaveAndStayAway) {
  Clocked t;
  t.c.add_user("bob");
  const JobId id = t.c.run(job("j").user("bob"), {"node-2"});
  const JobId other = t.c.run(job("k"), {"node-1"});
  t.tick();
  EXPECT_EQ(t.c.attempt(id).state, AttemptState::running);
  ASSERT_TRUE(t.c.decide(SetUser{{.name = "bob", .active = false}}).is_ok());
  t.tick();
  EXPECT_EQ(t.c.attempt(id).state, AttemptState::suspending);
  EXPECT_EQ(t.c.attempt(id).suspend_reason, "user bob is not active any more");
  EXPECT_EQ(t.c.attempt(other).state, AttemptState::running);
  t.c.leave(id);
  EXPECT_EQ(t.c.plan().pending.at(id).code, PendingCode::user_inactive);
  ASSERT_TRUE(t.c.decide(SetUser{{.name = "bob", .active = true}}).is_ok());
  t.c.pass();
  EXPECT_TRUE(t.c.job(id).has_live_attempt()) << "it goes on by itself";
}

TEST(Silence, OfANodeThatIsDownIsNoNews) {
  Clocked t;
  t.advance(1h);
  size_t before = t.c.events().size();
  t.advance(1h);
  EXPECT_EQ(t.c.events().size(), before);
}

TEST(Silence, CountsFromTheStartOfTheTerm) {
  Clocked t;
  t.mono += 1h;
  t.sessions.set_term_start(t.mono);
  t.tick();
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::up) << "this leader has only just begun";
  t.mono += t.c.knobs.down_after + 1us;
  t.tick();
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::down);
}

TEST(LaunchTimeout, RollsAGangBackAndNamesTheRank) {
  Clocked t;
  JobId id = t.c.place(job("j").nodes(2), {"node-1", "node-2"});
  t.c.emit(AttemptStarting{id, 1});
  t.c.emit(RankRunning{id, 1, 0});
  auto keep = [&] { t.contact("node-1"); };
  keep(), t.advance(t.c.knobs.launch_timeout / 2), keep();
  t.advance(t.c.knobs.launch_timeout / 2);
  EXPECT_FALSE(t.c.attempt(id).end.has_value());
  keep(), t.advance(1us);
  ASSERT_TRUE(t.c.attempt(id).end.has_value());
  EXPECT_EQ(t.c.attempt(id).end->outcome, AttemptState::lost);
  EXPECT_TRUE(t.c.attempt(id).end->infrastructure);
  EXPECT_EQ(t.c.attempt(id).end->reason, "rank 1 on node-2 did not come up within 1m");
  EXPECT_TRUE(t.c.attempt(id).is_live()) << "the ranks must be gone first";
}

// Its nodes may have gigabytes to fetch and unpack: docs/images.md.
TEST(LaunchTimeout, IsAnotherOneInAnImage) {
  Clocked t;
  const JobId id = t.c.place(job("j").image("docker://registry/team/box:1"), {"node-2"});
  t.c.emit(AttemptStarting{id, 1});
  t.advance(t.c.knobs.launch_timeout + 1s);
  t.advance(t.c.knobs.image_timeout - t.c.knobs.launch_timeout - 1s);
  EXPECT_FALSE(t.c.attempt(id).end.has_value());
  t.advance(1us);
  ASSERT_TRUE(t.c.attempt(id).end.has_value());
  EXPECT_EQ(t.c.attempt(id).end->reason, "rank 0 on node-2 did not come up within 2h");
}

TEST(LaunchTimeout, DoesNotCountTheTimeBeforeTheTerm) {
  Clocked t;
  const JobId id = t.c.place(job("j"), {"node-1"});
  t.c.emit(AttemptStarting{id, 1});
  t.mono += 1h, t.c.advance(1h);  // while nobody led, or the store was away
  t.c.emit(EpochStarted{Epoch{t.c.state().epoch().value + 1}});
  t.sessions.set_term_start(t.mono);
  t.contact("node-1"), t.tick();
  t.advance(t.c.knobs.launch_timeout / 2), t.contact("node-1");
  t.advance(t.c.knobs.launch_timeout / 2), t.contact("node-1");
  EXPECT_FALSE(t.c.attempt(id).end.has_value()) << "its rank may run and be heard of yet";
  t.advance(1us);
  ASSERT_TRUE(t.c.attempt(id).end.has_value());
  EXPECT_EQ(t.c.attempt(id).end->outcome, AttemptState::lost);
}

TEST(LaunchTimeout, DoesNotConcernWhoLeavesOrRuns) {
  Clocked t;
  JobId runs = t.c.run(job("runs").gpus(1), {"node-2"}, GpuSet{1});
  JobId leaves = t.c.place(job("leaves").gpus(1), {"node-2"}, GpuSet{2});
  t.c.emit(AttemptSuspending{leaves, 1, t.c.now + 1h, {}, "asked"});
  t.advance(10min);
  EXPECT_FALSE(t.c.attempt(runs).end.has_value());
  EXPECT_FALSE(t.c.attempt(leaves).end.has_value());
}

TEST(Timeout, EndsAnAttemptThatRunsTooLong) {
  Clocked t;
  JobId id = t.c.run(job("j").timeout(10min), {"node-2"});
  t.advance(10min);
  EXPECT_FALSE(t.c.attempt(id).end.has_value());
  t.advance(1us);
  ASSERT_TRUE(t.c.attempt(id).end.has_value());
  EXPECT_EQ(t.c.attempt(id).end->outcome, AttemptState::failed);
  EXPECT_EQ(t.c.attempt(id).end->exit_code, 124);
  EXPECT_THAT(t.c.attempt(id).end->reason, HasSubstr("timeout of 10m"));
}

TEST(Drain, IsDoneWhenTheLastJobHasLeft) {
  Clocked t;
  JobId id = t.c.run(job("j"), {"node-2"});
  ASSERT_TRUE(t.c.decide(DrainNode{"node-2", "fan"}).is_ok());
  t.tick();
  EXPECT_EQ(t.c.node("node-2").scheduling, Scheduling::draining);
  t.c.leave(id);
  t.tick();
  EXPECT_EQ(t.c.node("node-2").scheduling, Scheduling::drained);
  EXPECT_EQ(t.c.node("node-2").scheduling_reason, "fan");
  EXPECT_EQ(t.c.node("node-2").scheduling_by, "ann");
}

TEST(DrainDeadline, LetsJobsRunUntilThen) {
  Clocked t;
  t.c.run(job("j"), {"node-2"});
  const UnixTime deadline = t.c.now + 1h;
  ASSERT_TRUE(t.c.decide(DrainNode{"node-2", "fan", deadline}).is_ok());
  t.advance(1h - 1us);
  EXPECT_EQ(t.c.node("node-2").scheduling, Scheduling::cordoned);
  t.advance(1us);
  EXPECT_EQ(t.c.node("node-2").scheduling, Scheduling::draining);
  EXPECT_EQ(t.c.node("node-2").scheduling_reason, "fan");
  EXPECT_EQ(t.c.node("node-2").scheduling_by, "ann");
  EXPECT_EQ(t.c.node("node-2").drain_at, std::nullopt);
}

TEST(DrainDeadline, IsNotWaitedForByAnEmptyNode) {
  Clocked t;
  JobId id = t.c.run(job("j"), {"node-2"});
  ASSERT_TRUE(t.c.decide(DrainNode{"node-2", "fan", t.c.now + 1h}).is_ok());
  t.c.leave(id);
  t.tick();
  EXPECT_EQ(t.c.node("node-2").scheduling, Scheduling::drained);
}

}  // namespace
}  // namespace hai::test
