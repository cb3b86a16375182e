// How one rank's end becomes its attempt's: every cause, exit code and circumstance, as a table.

#include "server/control/attempt/attempt_flow.h"
#include "tests/unit/control/agent_reports.h"

namespace hai::test {
namespace {

using A = AttemptState;
using C = ExitCause;

struct Case {
  ExitCause cause;
  int exit_code;
  bool suspending;
  bool signal;
  AttemptState outcome;
  bool requeues;  // counted as a fault: not the job's, but bounded
};

// No row: the attempt would go on (other ranks run). 85 is suspend.exit_code.
const Case kCases[] = {
    {C::go_suspend, 0, false, false, A::suspended, true},  // unasked: bounded, else it spins
    {C::go_suspend, 0, true, false, A::suspended, false},
    {C::go_suspend, 0, true, true, A::suspended, false},
    {C::left, 143, true, false, A::suspended, false},
    {C::left, 0, true, false, A::suspended, false},
    {C::left, 143, false, false, A::suspended, false},  // told, and then told to go on
    {C::grace_over, 137, true, false, A::suspended, false},
    {C::grace_over, 137, true, true, A::suspended, false},
    {C::killed, 137, true, false, A::suspended, false},
    {C::killed, 137, false, false, A::lost, true},
    {C::fenced, 137, false, false, A::lost, true},
    {C::fenced, 137, true, false, A::lost, true},
    {C::lost, 0, false, false, A::lost, true},
    {C::lost, 0, true, true, A::lost, true},
    {C::launch_failed, 0, false, false, A::failed, true},
    {C::launch_failed, 0, true, false, A::failed, true},
    {C::program, 85, true, false, A::suspended, false},
    {C::program, 85, true, true, A::suspended, false},
    {C::program, 85, false, false, A::suspended, true},  // unasked, too
    {C::program, 1, false, false, A::failed, false},
    {C::program, 1, false, true, A::failed, false},
    {C::program, 1, true, false, A::failed, false},
    {C::program, 1, true, true, A::suspended, false},  // any exit after the notice
    {C::program, 0, true, true, A::suspended, false},
    {C::program, 0, true, false, A::succeeded, false},
    {C::program, 0, false, false, A::succeeded, false},
    {C::program, 0, false, true, A::succeeded, false},
};

std::string text(const Case& row) {
  return fmt::format("{} code {} suspending {} signal {}", to_string(row.cause), row.exit_code,
                     row.suspending, row.signal);
}

TEST(Verdict, FollowsTheTable) {
  for (const Case& row : kCases) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId id = c.run(row.signal ? job("j").signal("SIGUSR1") : job("j"), {"node-1"});
    if (row.suspending) c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
    FakeAgent agent(c, "node-1");
    RankStatus end = exited({id, 1, 0}, row.cause, row.exit_code);
    end.suspend_notified = row.suspending;
    agent.report({end});
    ASSERT_TRUE(is_terminal(c.attempt(id).state)) << text(row);
    EXPECT_EQ(c.attempt(id).state, row.outcome) << text(row);
    EXPECT_EQ(c.job(id).counters.requeue_count, row.requeues ? 1 : 0) << text(row);
    bool over = row.outcome == A::succeeded || (row.outcome == A::failed && !row.requeues);
    EXPECT_EQ(c.job(id).is_terminal(), over) << text(row);
  }
}

TEST(Verdict, OfOneRankEndsTheWholeGang) {
  for (const Case& row : kCases) {
    if (row.cause == C::program && row.exit_code == 0) continue;
    Cluster c = cluster(nodes(2, gpus(8)));
    JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
    if (row.suspending) c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
    if (row.signal) continue;
    if (row.cause == C::left && row.suspending) continue;  // the others save, too
    // It may break off because another has left.
    if (row.cause == C::program && row.exit_code == 1 && row.suspending && !row.signal) continue;
    FakeAgent agent(c, "node-2");
    agent.report({exited({id, 1, 1}, row.cause, row.exit_code)});
    ASSERT_TRUE(c.attempt(id).is_live()) << "rank 0 still runs: its node is not free";
    ASSERT_TRUE(c.attempt(id).end.has_value()) << text(row);
    EXPECT_EQ(c.attempt(id).end->outcome, row.outcome) << text(row);
  }
}

TEST(Verdict, ARankThatEndedWellWaitsForTheOthers) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  one.report({exited({id, 1, 0}, C::program, 0)});
  EXPECT_FALSE(c.attempt(id).end.has_value());
  two.report({exited({id, 1, 1}, C::program, 0)});
  EXPECT_EQ(c.job(id).state, JobState::succeeded);
  EXPECT_EQ(c.job(id).exit_code, 0);
}

TEST(Verdict, ARankThatEndedWellIsTakenForLeavingOnceItsGangIsToLeaveBySignal) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2).signal("SIGUSR1"), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  one.report({exited({id, 1, 0}, C::program, 0)});
  two.report({running({id, 1, 1})});
  ASSERT_FALSE(c.attempt(id).end.has_value()) << "it is not to leave yet";
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  two.report({running({id, 1, 1})});
  ASSERT_TRUE(c.attempt(id).end.has_value());
  EXPECT_EQ(c.attempt(id).end->outcome, A::suspended);
}

TEST(Verdict, OfOneThatBreaksIsHeardAmongManyThatEndedWell) {
  Cluster c = cluster(nodes(4, gpus(8)));
  const JobId id = c.run(job("j").nodes(4), {"node-1", "node-2", "node-3", "node-4"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, C::program, 0)});
  FakeAgent(c, "node-3").report({exited({id, 1, 2}, C::program, 0)});
  FakeAgent(c, "node-2").report({exited({id, 1, 1}, C::program, 7)});
  ASSERT_TRUE(c.attempt(id).end.has_value());
  EXPECT_EQ(c.attempt(id).end->outcome, A::failed);
  EXPECT_EQ(c.attempt(id).end->exit_code, 7);
  FakeAgent(c, "node-4").report({exited({id, 1, 3}, C::killed, 137)});
  EXPECT_EQ(c.job(id).state, JobState::failed);
}

TEST(Verdict, ARankThatLeftAfterItsSignalDoesNotCostTheOthersTheirGrace) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  one.report({exited({id, 1, 0}, C::left, 143)});
  EXPECT_FALSE(c.attempt(id).end.has_value()) << "rank 1 still saves";
  two.report({exited({id, 1, 1}, C::left, 0)});
  EXPECT_EQ(c.attempt(id).state, A::suspended);
  EXPECT_EQ(c.attempt(id).end->reason, "asked");
  EXPECT_EQ(c.job(id).state, JobState::suspended);
}

TEST(Verdict, WhatBreaksOffBecauseOneHasLeftIsJudgedWhenAllAreGone) {
  for (const bool left_is_heard_first : {true, false}) {
    for (const int exit_code : {0, 1}) {
      Cluster c = cluster(nodes(3, gpus(8)));
      const JobId id = c.run(job("j").nodes(3), {"node-1", "node-2", "node-3"});
      c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
      FakeAgent one(c, "node-1");
      FakeAgent two(c, "node-2");
      const auto leave = [&] { one.report({exited({id, 1, 0}, C::left, 143)}); };
      const auto break_off = [&] { two.report({exited({id, 1, 1}, C::program, exit_code)}); };
      if (left_is_heard_first) {
        leave(), break_off();
      } else {
        break_off(), leave();
      }
      ASSERT_FALSE(c.attempt(id).end.has_value()) << "rank 2 still saves";
      FakeAgent(c, "node-3").report({exited({id, 1, 2}, C::left, 0)});
      EXPECT_EQ(c.attempt(id).state, A::suspended);
      EXPECT_EQ(c.attempt(id).end->reason, "asked");
      EXPECT_EQ(c.job(id).state, JobState::suspended);
    }
  }
}

TEST(Verdict, WhatFailsWhileNobodyLeavesHasFailed) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, C::program, 1)});
  EXPECT_FALSE(c.attempt(id).end.has_value())
      << "another may have left, and that be heard of later";
  FakeAgent(c, "node-2").report({exited({id, 1, 1}, C::program, 0)});
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).exit_code, 1);
}

TEST(Verdict, OfAUserOfTheSdkIsThereAtOnce) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  c.emit(JobUsesSdk{id});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, C::program, 1)});
  ASSERT_TRUE(c.attempt(id).end.has_value()) << "nobody was told by a signal";
  EXPECT_EQ(c.attempt(id).end->outcome, A::failed);
}

TEST(Verdict, SaysWhatTheShimKnowsOfTheEnd) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  RankStatus end = exited({id, 1, 0}, C::program, 137);
  end.message = "killed: out of memory (cgroup limit 64 GiB)";
  FakeAgent(c, "node-1").report({end});
  EXPECT_EQ(c.job(id).end_reason,
            "rank 0 on node-1 exited with code 137 (SIGKILL), killed: out of memory (cgroup limit "
            "64 GiB)");
}

TEST(Verdict, OfAProgramThatEndedBeforeItSawTheRequestIsItsOwn) {
  for (auto [exit_code, state] : {std::pair(0, JobState::succeeded), {1, JobState::failed}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId id = c.run(job("j").signal("SIGUSR1"), {"node-1"});
    c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, C::program, exit_code)});
    EXPECT_EQ(c.job(id).state, state) << "it must not run again";
  }
}

TEST(Verdict, TheFirstReasonStands) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  one.report({exited({id, 1, 0}, C::program, 3)});
  two.report({exited({id, 1, 1}, C::killed, 137)});
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).exit_code, 3);
  EXPECT_EQ(c.job(id).end_reason, "rank 0 on node-1 exited with code 3");
}

TEST(Verdict, NamesTheSignalThatEndedTheProgram) {
  for (const auto& [code, words] : {std::pair(139, "139 (SIGSEGV)"), {128, "128"}, {255, "255"}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    const JobId id = c.run(job("j"), {"node-1"});
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, code)});
    EXPECT_EQ(c.job(id).end_reason, fmt::format("rank 0 on node-1 exited with code {}", words));
  }
}

}  // namespace
}  // namespace hai::test
