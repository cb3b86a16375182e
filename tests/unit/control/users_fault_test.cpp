// Faults that users can make: they are answered, and take no node from the others.

#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_health.h"
#include "server/model/lemon_score.h"
#include "tests/unit/control/health_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using T = HealthTier;

TEST(UsersFault, OfOnePersonsProgramsNeverTakesANodeOut) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  for (int i = 0; i < 10; ++i) {
    const JobId id = w.c.run(job(fmt::format("j{}", i)), {"node-1"});
    w.report("node-1", {w.said_now(failing("oom_kill", T::app))});
    w.c.finish(id, JobState::failed);
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open) << i;
  }
  EXPECT_EQ(w.repair("node-1").step, RepairStep::none);
  EXPECT_EQ(lemon_score(w.node("node-1").health, w.c.now, 1'000).score, 0);
}

TEST(UsersFault, DoesNotSpeakForNeighboursOnTheNode) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.run(job("culprit").gpus(2), {"node-1"}, {0x03});
  w.c.run(job("bobs").gpus(2).user("bob"), {"node-1"}, {0x0c});
  w.c.run(job("eves").gpus(2).user("eve"), {"node-1"}, {0x30});
  w.report("node-1", {w.said_now(failing("oom_kill", T::app))});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_THAT(w.marks("node-1"), IsEmpty());
  w.report("node-1", {w.said_now(failing("gpu_xid", T::app, "gpu 2", {1 << 2}))});
  EXPECT_THAT(w.marks("node-1"), ElementsAre("app_fault gpu_xid"));
  EXPECT_EQ(w.node("node-1").health.marks[0].user, "bob") << "the GPU tells whose it was";
}

// The kernel's line comes a moment after the end of who caused it, and the next one is there by
// then, whatever the node's clock says.
TEST(UsersFault, IsNotThatOfWhoComesNext) {
  for (const Duration clock_ahead : {Duration(-1h), Duration(0), Duration(1h)}) {
    HealthWorld w(cluster(nodes(2, gpus(8))));
    const CheckResult fault = failing("gpu_xid", T::app, "gpu 3", {1 << 3});
    for (int i = 0; i < 2; ++i) {
      const JobId anns = w.c.run(job(fmt::format("anns-{}", i)), {"node-1"});
      w.report("node-1", {w.said_now(fault)});
      w.c.finish(anns, JobState::failed);
    }
    const JobId hidden = w.c.run(job("hidden"), {"node-1"});
    CheckResult late = w.said_now(fault);
    late.at += clock_ahead;
    w.c.finish(hidden);
    w.c.run(job("bobs").user("bob"), {"node-1"});
    w.c.advance(1s);
    w.report("node-1", {late});
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open) << clock_ahead;
    EXPECT_THAT(w.marks("node-1"), ElementsAre("app_fault gpu_xid", "app_fault gpu_xid"));
    w.report("node-1", {w.said_now(fault)});
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned) << "this one is his own";
  }
}

// Of a fault that names no GPU who has left may be the cause as well as who is still there.
TEST(UsersFault, IsNotThatOfANeighbourWhoStays) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId hidden = w.c.run(job("hidden").gpus(2), {"node-1"}, {0x03});
  w.c.run(job("bobs").gpus(2).user("bob"), {"node-1"}, {0x0c});
  const CheckResult late = w.said_now(failing("oom_kill", T::app));
  w.c.finish(hidden);
  w.report("node-1", {late});
  EXPECT_THAT(w.marks("node-1"), IsEmpty());
}

// A gang that has the same fault everywhere, where others had one before.
TEST(UsersFault, OfManyNodesAtOnceIsHeldAndOpensByItself) {
  const std::vector<std::string> names{"node-1", "node-2", "node-3", "node-4"};
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const CheckResult fault = failing("gpu_xid", T::app, "gpu 3");
  for (const std::string user : {"ann", "bob"}) {
    for (const std::string& name : names) {
      const JobId id = w.c.run(job(user + name).user(user), {name});
      w.report(name, {w.said_now(fault)});
      w.c.finish(id, JobState::failed);
    }
    w.c.advance(2min);
  }
  const JobId gang = w.c.run(job("gang").nodes(4), names);
  const CheckResult of_all = w.said_now(fault);
  for (const std::string& name : names) w.report(name, {of_all});
  EXPECT_EQ(w.repair("node-2").step, RepairStep::emptying);
  for (const std::string name : {"node-3", "node-4"}) {
    EXPECT_EQ(w.repair(name).step, RepairStep::none) << name;
    EXPECT_EQ(w.node(name).health.find("gpu_xid", "gpu 3")->done, FaultAnswer::hold) << name;
  }
  EXPECT_THAT(w.incidents(kMassFault), ElementsAre("gpu_xid@leaf A/leaf-1"));
  for (const std::string name : {"node-1", "node-3"}) w.report(name, {});
  w.advance(3s);
  EXPECT_EQ(w.node("node-3").scheduling, Scheduling::open);
  EXPECT_EQ(w.node("node-4").scheduling, Scheduling::open) << "it was the program's";
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
  EXPECT_FALSE(w.c.attempt(gang).end);
}

TEST(UsersFault, DoesNotPushOutWhatStandsAgainstTheNode) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.emit(NodeMarked{w.c.node_id("node-1"), MarkKind::validation_failed, "", {}, ""});
  const CheckResult fault = failing("gpu_xid", T::app, "gpu 3");
  const JobId endless = w.c.run(job("endless"), {"node-1"});
  for (size_t i = 0; i <= NodeHealth::kMarksMax; ++i) {
    w.report("node-1", {w.said_now(fault)});
  }
  EXPECT_THAT(w.marks("node-1"), ElementsAre("validation_failed", "app_fault gpu_xid"));
  w.c.finish(endless, JobState::failed);
  for (size_t i = 0; i <= NodeHealth::kMarksMax; ++i) {
    const JobId id = w.c.run(job(fmt::format("j{}", i)), {"node-1"});
    w.report("node-1", {w.said_now(fault)});
    w.c.finish(id, JobState::failed);
  }
  EXPECT_THAT(w.marks("node-1"), ElementsAre("validation_failed", "app_fault gpu_xid",
                                             "app_fault gpu_xid", "app_fault gpu_xid"));
  w.c.run(job("bobs").user("bob"), {"node-1"});
  w.report("node-1", {w.said_now(fault)});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned) << "another person's still counts";
}

// What other kinds of marks jobs leave is bounded likewise, for as long as each kind counts.
TEST(UsersFault, MarksByOnePersonsJobsAreFewUntilTheyCountNoMore) {
  for (const MarkKind kind : {MarkKind::launch_failed, MarkKind::job_failed}) {
    HealthWorld w(cluster(nodes(1, gpus(8))));
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; ++i) jobs.push_back(w.c.submit(job(fmt::format("j{}", i))));
    const auto mark_by = [&](const std::vector<JobId>& of) {
      w.c.decide_with([&](Decision& decision) {
        for (JobId id : of) {
          mark_by_job(decision, w.c.node_id("node-1"), kind, "lost", *decision.state().find(id));
        }
      });
      return w.marks("node-1").size();
    };
    const bool is_launch = kind == MarkKind::launch_failed;
    EXPECT_EQ(mark_by({jobs[0], jobs[0]}), 1u);
    EXPECT_EQ(mark_by(jobs), 3u);
    w.c.advance(is_launch ? 1h : 24h);
    EXPECT_EQ(mark_by(jobs), 3u);
    w.c.advance(1us);
    EXPECT_EQ(mark_by({jobs[0]}), 4u) << "those before count no more";
    w.c.emit(NodeMarked{w.c.node_id("node-1"), MarkKind::accepted, "", {}, ""});
    EXPECT_EQ(mark_by({jobs[0]}), 6u) << "accepted is forgotten";
  }
}

TEST(UsersFault, OnAGangsNodesHoldsBackNoFaultOfTheMachine) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId gang = w.c.run(job("gang").nodes(3), {"node-1", "node-2", "node-3"});
  const CheckResult own = w.said_now(failing("gpu_xid", T::app, "gpu 3 xid 31", {1 << 3}));
  for (const std::string name : {"node-1", "node-2", "node-3"}) w.report(name, {own});
  w.report("node-1", {own, failing("gpu_xid", T::evict, "gpu 3 xid 79", {1 << 3})});
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
  EXPECT_EQ(w.node("node-1").health.find("gpu_xid", "gpu 3 xid 79")->done, FaultAnswer::evict);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::emptying);
  EXPECT_TRUE(w.c.attempt(gang).end);
}

TEST(UsersFault, AFullDiskTakesItsNodeOutAndIsNoLemons) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  CheckResult full = failing("disk_space", T::drain, "/");
  for (int i = 0; i < w.c.knobs.lemon_score; ++i) w.report("node-1", {full = again(full)});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::drained);
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::repairing);
  EXPECT_FALSE(w.repair("node-1").is_lemon);
  EXPECT_EQ(lemon_score(w.node("node-1").health, w.c.now, 1'000).score, 0);
  EXPECT_EQ(lemon_score(w.node("node-1").health, w.c.now, 1'000).explanation, "");
}

TEST(UsersFault, OfTheMachineScoresWhateverChecksOfTheSameTierDoNot) {
  const UnixTime now = unix_micros(0) + 24h;
  const auto score = [&](const char* check) {
    NodeHealth health;
    health.marks = {{now, MarkKind::drain, check, {}, ""}};
    return lemon_score(health, now, 1'000).score;
  };
  EXPECT_EQ(score("disk_space"), 0);
  EXPECT_EQ(score("gpu_stray_process"), 0);
  EXPECT_EQ(score("filesystem_error"), 3) << "a disk that became read-only is not forgiven";
  EXPECT_EQ(score("disk_error"), 3);
}

}  // namespace
}  // namespace hai::test
