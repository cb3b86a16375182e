// Launches that fail: the next try is elsewhere, a later one waits, and a node that several
// people's jobs can't start on is taken out.

#include "server/control/health/decide_launches.h"

#include "tests/unit/control/agent_reports.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

void fail_launch(Cluster& c, JobId id) {
  const Attempt& attempt = c.attempt(id);
  const std::string node = c.state().find(attempt.ranks[0].place.node)->facts.name;
  RankStatus status = exited({id, attempt.number, 0}, ExitCause::launch_failed);
  status.message = "workspace /w does not exist on this node";
  FakeAgent(c, node).report({status});
}

std::string node_of(const Cluster& c, JobId id) {
  return c.state().find(c.attempt(id).ranks[0].place.node)->facts.name;
}

TEST(LaunchFailure, IsTriedElsewhereAtOnceWholeNodesAndShares) {
  for (const int gpus_asked : {0, 1}) {
    Cluster c = cluster(nodes(3, gpus(8)));
    const JobId id = c.submit(job("j").gpus(gpus_asked));
    std::set<std::string> tried;
    c.pass();
    tried.insert(node_of(c, id));
    fail_launch(c, id);
    ASSERT_TRUE(c.job(id).is_waiting());
    c.pass();
    ASSERT_TRUE(c.job(id).has_live_attempt()) << "at once";
    tried.insert(node_of(c, id));
    fail_launch(c, id);
    c.pass();
    EXPECT_FALSE(c.job(id).has_live_attempt());
    EXPECT_THAT(c.plan().pending.at(id).text, HasSubstr("it could not start 2 times"));
    c.advance(5s);
    c.pass();
    tried.insert(node_of(c, id));
    EXPECT_EQ(tried.size(), 3u);
    fail_launch(c, id);
    EXPECT_EQ(c.job(id).state, JobState::failed) << "three nodes cannot all be broken";
  }
}

// A job of `user` that could not start on node-1 and runs on node-2 now, and ends.
void start_elsewhere(Cluster& c, const std::string& name, const std::string& user) {
  const JobId id = c.place(job(name).user(user), {"node-1"});
  fail_launch(c, id);
  c.place(id, c.on({"node-2"}));
  FakeAgent(c, "node-2").report({running({id, 2, 0})});
  FakeAgent(c, "node-2").report({exited({id, 2, 0}, ExitCause::program, 0)});
  ASSERT_EQ(c.job(id).state, JobState::succeeded);
}

void launch_tick(Cluster& c) { c.decide_with(decide_launches); }

TEST(LaunchFailure, OfSeveralPeopleTakesTheNodeOut) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.add_user("bob");
  start_elsewhere(c, "a", "ann");
  start_elsewhere(c, "b", "ann");
  start_elsewhere(c, "c", "ann");
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::open) << "it may be what ann asks for";
  start_elsewhere(c, "d", "bob");
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::cordoned);
  EXPECT_EQ(c.node("node-1").health.repair.step, RepairStep::emptying);
  EXPECT_THAT(c.node("node-1").scheduling_reason, HasSubstr("4 jobs of 2 people could not start"));
  EXPECT_EQ(c.node("node-2").scheduling, Scheduling::open);
  const size_t before = c.events().size();
  launch_tick(c);
  EXPECT_EQ(c.events().size(), before);
}

TEST(LaunchFailure, TakesNoMoreThanAFewNodesOut) {
  Cluster c = cluster(nodes(5, gpus(8)));
  c.add_user("bob");
  for (const std::string bad : {"node-1", "node-3"}) {
    for (const std::string name : {"a", "b", "c"}) {
      const JobId id = c.place(job(name).user(name == "a" ? "bob" : "ann"), {bad});
      fail_launch(c, id);
      c.place(id, c.on({"node-2"}));
      FakeAgent(c, "node-2").report({running({id, 2, 0})});
      FakeAgent(c, "node-2").report({exited({id, 2, 0}, ExitCause::program, 0)});
    }
  }
  launch_tick(c);
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::cordoned);
  EXPECT_EQ(c.node("node-3").scheduling, Scheduling::open) << "it may be what was submitted";
}

TEST(LaunchFailure, OfAFailedProgramSaysNothingOfTheNode) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.add_user("bob");
  for (const std::string name : {"a", "b", "c"}) {
    const JobId id = c.place(job(name).user(name == "a" ? "bob" : "ann").restart(3), {"node-1"});
    FakeAgent(c, "node-1").report({running({id, 1, 0})});
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 1)});
    c.place(id, c.on({"node-2"}));
    RankStatus status = exited({id, 2, 0}, ExitCause::launch_failed);
    FakeAgent(c, "node-2").report({status});
    c.place(id, c.on({"node-3"}));
    FakeAgent(c, "node-3").report({running({id, 3, 0})});
    FakeAgent(c, "node-3").report({exited({id, 3, 0}, ExitCause::program, 0)});
  }
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::open) << "its programs started there";
  EXPECT_EQ(c.node("node-2").scheduling, Scheduling::cordoned);
}

TEST(LaunchFailure, ThatIsOldOrFollowsTheJobSaysNothingOfTheNode) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.add_user("bob");
  start_elsewhere(c, "a", "ann");
  start_elsewhere(c, "b", "bob");
  c.advance(2h);
  start_elsewhere(c, "c", "ann");
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::open);
  for (const std::string name : {"x", "y", "z"}) {  // these start nowhere
    const JobId id = c.place(job(name).user(name == "x" ? "bob" : "ann"), {"node-1"});
    fail_launch(c, id);
    c.place(id, c.on({"node-2"}));
    fail_launch(c, id);
  }
  launch_tick(c);
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::open);
}

TEST(RestartOnFailure, WaitsLongerEachTime) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("j").restart(9));
  for (const Duration wait : {Duration(5s), Duration(10s), Duration(20s)}) {
    c.pass();
    const int number = c.attempt(id).number;
    FakeAgent agent(c, "node-1");
    agent.report({running({id, number, 0})});
    c.advance(20min);  // not early: that would be another rule
    agent.report({exited({id, number, 0}, ExitCause::program, 1)});
    ASSERT_TRUE(c.job(id).is_waiting());
    EXPECT_EQ(c.job(id).restarts_at(), c.now + wait);
    c.advance(wait - 1us);
    c.pass();
    EXPECT_FALSE(c.job(id).has_live_attempt());
    EXPECT_EQ(c.plan().pending.at(id).code, PendingCode::backoff);
    c.advance(1us);
  }
  c.pass();
  EXPECT_TRUE(c.job(id).has_live_attempt());
  c.confirm(id);
  c.leave(id);
  EXPECT_EQ(c.job(id).restarts_at(), std::nullopt) << "a suspension is no failure";
}

}  // namespace
}  // namespace hai::test
