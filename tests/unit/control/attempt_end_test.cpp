// What becomes of a job when its attempt has ended.

#include "server/control/attempt/attempt_flow.h"
#include "server/control/nodes/decide_mass_loss.h"
#include "server/plan/carry_out.h"
#include "tests/unit/control/agent_reports.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs the job once more on node-1 and ends its rank so.
void run_and_end(Cluster& c, JobId id, ExitCause cause, int exit_code) {
  c.place(id, c.on({"node-1"}));
  c.confirm(id);
  FakeAgent(c, "node-1").report({exited({id, c.attempt(id).number, 0}, cause, exit_code)});
}

// … after it has run for a while and saved.
void save_and_end(Cluster& c, JobId id, ExitCause cause) {
  c.place(id, c.on({"node-1"}));
  c.confirm(id);
  c.advance(20min);
  c.checkpoint(id, 1min);
  FakeAgent(c, "node-1").report({exited({id, c.attempt(id).number, 0}, cause, 0)});
}

TEST(AttemptEnd, FaultsRequeueUntilTheLimit) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_requeues = 2;
  JobId id = c.submit(job("j"));
  run_and_end(c, id, ExitCause::lost, 0);
  run_and_end(c, id, ExitCause::fenced, 137);
  EXPECT_FALSE(c.job(id).is_terminal());
  run_and_end(c, id, ExitCause::lost, 0);
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).exit_code, 1);
  EXPECT_THAT(c.job(id).end_reason, HasSubstr("(requeued 2 times already and got nowhere)"));
}

// A job of a year has hundreds of interruptions; that its work goes on is what counts.
TEST(AttemptEnd, WhoSavesInBetweenIsRequeuedForEver) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_requeues = 2;
  JobId id = c.submit(job("j"));
  for (int interruption = 1; interruption <= 10; ++interruption) {
    save_and_end(c, id, ExitCause::lost);
    ASSERT_FALSE(c.job(id).is_terminal()) << c.job(id).end_reason;
    EXPECT_EQ(c.job(id).counters.requeue_count, interruption);
  }
  run_and_end(c, id, ExitCause::lost, 0);
  EXPECT_FALSE(c.job(id).is_terminal());
  run_and_end(c, id, ExitCause::lost, 0);
  EXPECT_THAT(c.job(id).end_reason, HasSubstr("requeued 2 times already and got nowhere"));
}

TEST(AttemptEnd, WhoCallsGoSuspendUnaskedIsBounded) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_requeues = 2;
  JobId id = c.submit(job("j"));
  for (int saved = 1; saved <= 5; ++saved) {
    save_and_end(c, id, ExitCause::go_suspend);
    ASSERT_FALSE(c.job(id).is_terminal()) << "it gets on";
  }
  EXPECT_EQ(c.job(id).counters.requeue_count, 5);
  run_and_end(c, id, ExitCause::go_suspend, 0);
  ASSERT_EQ(c.job(id).state, JobState::suspended);
  EXPECT_THAT(c.job(id).avoid, IsEmpty()) << "no node is to blame";
  run_and_end(c, id, ExitCause::go_suspend, 0);
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).end_reason,
            "rank 0 on node-1 called go_suspend (requeued 2 times already and got nowhere)");
}

TEST(AttemptEnd, WhoTellsOfNoCheckpointsIsBelievedAfterADay) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_requeues = 1;
  JobId id = c.submit(job("j"));
  for (int interruption = 1; interruption <= 4; ++interruption) {
    c.place(id, c.on({"node-1"}));
    c.confirm(id);
    c.advance(24h);
    FakeAgent(c, "node-1").report({exited({id, c.attempt(id).number, 0}, ExitCause::lost, 0)});
    ASSERT_FALSE(c.job(id).is_terminal()) << c.job(id).end_reason;
  }
}

TEST(AttemptEnd, FailuresRestartOnlyIfTheJobSaysSo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId plain = c.submit(job("plain"));
  run_and_end(c, plain, ExitCause::program, 7);
  EXPECT_EQ(c.job(plain).state, JobState::failed);
  EXPECT_EQ(c.job(plain).exit_code, 7);
  JobId again = c.submit(job("again").restart(1));
  run_and_end(c, again, ExitCause::program, 7);
  EXPECT_EQ(c.job(again).state, JobState::suspended);
  EXPECT_EQ(c.job(again).failure_restarts, 1);
  EXPECT_EQ(c.job(again).counters.requeue_count, 0)
      << "faults and failures have limits of their own";
  run_and_end(c, again, ExitCause::program, 7);
  EXPECT_EQ(c.job(again).state, JobState::failed);
}

TEST(AttemptEnd, ThreeLaunchFailuresInARowAreTheJobsFault) {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId id = c.submit(job("j"));
  for (int attempt = 1; attempt <= 3; ++attempt) {
    c.place(id, c.on({fmt::format("node-{}", attempt)}));
    FakeAgent agent(c, fmt::format("node-{}", attempt));
    RankStatus status = exited({id, attempt, 0}, ExitCause::launch_failed);
    status.message = "no such file";
    EXPECT_THAT(agent.report({status}), ::testing::Not(::testing::Contains("attempt_running")));
    EXPECT_EQ(c.job(id).started_at, std::nullopt) << "it has never run";
  }
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).end_reason,
            "rank 0 on node-3 could not start: no such file (could not start 3 times)");
  EXPECT_THAT(c.job(id).avoid, ElementsAre(NodeId{1}, NodeId{2}, NodeId{3}));
}

TEST(AttemptEnd, ASuccessfulLaunchForgivesEarlierFailures) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  for (int round = 0; round < 3; ++round) {
    c.place(id, c.on({"node-1"}));
    FakeAgent(c, "node-1")
        .report({exited({id, c.attempt(id).number, 0}, ExitCause::launch_failed)});
    run_and_end(c, id, ExitCause::lost, 0);
  }
  EXPECT_FALSE(c.job(id).is_terminal());
}

TEST(AttemptEnd, StoppingWinsOverEverything) {
  for (ExitCause cause : {ExitCause::killed, ExitCause::lost, ExitCause::fenced,
                          ExitCause::go_suspend, ExitCause::program}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId id = c.run(job("j"), {"node-1"});
    ASSERT_TRUE(c.decide(StopJob{"j", ""}).is_ok());
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, cause, 137)});
    EXPECT_EQ(c.job(id).state, JobState::stopped) << to_string(cause);
    EXPECT_EQ(c.job(id).end_reason, "stopped by ann");
  }
}

TEST(AttemptEnd, StoppedWhileItFailsStaysStopped) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::lost, 0)});
  ASSERT_TRUE(c.decide(StopJob{"j", ""}).is_ok());
  FakeAgent(c, "node-2").report({exited({id, 1, 1}, ExitCause::killed, 137)});
  EXPECT_EQ(c.job(id).state, JobState::stopped) << "it must not run again";
}

TEST(AttemptEnd, ASuspendedJobWaitsToRunAgain) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::go_suspend)});
  EXPECT_EQ(c.job(id).state, JobState::suspended);
  EXPECT_EQ(c.job(id).counters.suspend_count, 1);
  EXPECT_EQ(c.job(id).counters.requeue_count, 0);
  EXPECT_THAT(c.node("node-1").occupants, IsEmpty());
}

TEST(AttemptEnd, CountsTheWorkThatMustBeRedone) {
  for (auto [cause, lost] : {std::pair(ExitCause::lost, 8 * 120),
                             {ExitCause::go_suspend, 8 * 120},
                             {ExitCause::program, 0}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId id = c.run(job("j"), {"node-1"});
    c.advance(10min).checkpoint(id, 2min);
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, cause, 0)});
    EXPECT_EQ(c.job(id).counters.lost_gpu_seconds, lost) << to_string(cause);
  }
}

TEST(AttemptEnd, IsChargedToItsUserBesideWhatHeHadBefore) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.usage_half_life = 10'000h;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    JobId id = c.run(job(fmt::format("j{}", attempt)), {"node-1"});
    c.advance(10min);
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 0)});
    const double seconds = static_cast<double>(c.state().find_user("ann")->usage.gpu_seconds);
    EXPECT_NEAR(seconds, attempt * 8 * 600, attempt);
  }
}

// Ends that the cluster has made say nothing of the job.
TEST(EarlyFailure, IsOneThatTheProgramOrItsNodeHasMade) {
  struct Row {
    ExitCause cause;
    int exit_code;
    bool in_mass_loss;
    bool counts;
  };
  for (const Row& row : {Row{ExitCause::program, 1, false, true},
                         {ExitCause::program, 1, true, true},
                         {ExitCause::launch_failed, 0, false, true},
                         {ExitCause::lost, 0, false, true},
                         {ExitCause::lost, 0, true, false},
                         {ExitCause::fenced, 137, false, false},
                         {ExitCause::go_suspend, 0, false, false}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    if (row.in_mass_loss) {
      c.emit(IncidentOpened{{1}, std::string(kMassLoss), "cluster", "silent", {NodeId{1}}});
    }
    JobId id = c.submit(job("j").restart(9));
    run_and_end(c, id, row.cause, row.exit_code);
    EXPECT_EQ(c.job(id).early_failures.size(), row.counts ? 1U : 0U)
        << to_string(row.cause) << " in a mass loss: " << row.in_mass_loss;
  }
}

TEST(EarlyFailure, OnThreeNodesEndsTheJobAndNotAsASuccess) {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId id = c.submit(job("j"));
  for (int node = 1; node <= 3; ++node) {
    const std::string name = fmt::format("node-{}", node);
    ASSERT_FALSE(c.job(id).is_terminal());
    c.place(id, c.on({name}));
    c.confirm(id);
    FakeAgent(c, name).report({exited({id, node, 0}, ExitCause::lost, 0)});
  }
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).exit_code, 1);
}

TEST(EarlyFailure, IsOneBeforeTheKnobsTime) {
  for (const auto& [later, counts] : {std::pair(-1us, 1U), {0us, 0U}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId id = c.run(job("j").restart(9), {"node-1"});
    c.advance(c.knobs.early_failure + later);
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 1)});
    EXPECT_EQ(c.job(id).early_failures.size(), counts);
  }
}

// Two losses of power took a node out that had six jobs: 12 marks of what happened twice.
TEST(Marks, OfOneOutageAreOneHoweverManyJobsRanThere) {
  Cluster c = cluster(nodes(1, gpus(8)));
  for (size_t outage = 1; outage <= 2; ++outage) {
    std::vector<JobId> jobs;
    for (int gpu = 0; gpu < 6; ++gpu) {
      const std::string user = fmt::format("user-{}", gpu);
      if (outage == 1) c.add_user(user);
      jobs.push_back(c.run(job(fmt::format("j{}-{}", outage, gpu)).user(user).gpus(1), {"node-1"},
                           GpuSet{uint64_t{1} << gpu}));
    }
    for (JobId id : jobs) FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::lost, 0)});
    EXPECT_EQ(c.node("node-1").health.marks.size(), outage);
    c.advance(10min);
  }
}

TEST(Marks, AreForNodesThatCostAnAttempt) {
  const auto marks = [](const Cluster& c, const std::string& node) {
    std::vector<std::string> kinds;
    for (const NodeMark& mark : c.node(node).health.marks) kinds.push_back(mark.text());
    return kinds;
  };
  for (ExitCause cause : {ExitCause::lost, ExitCause::launch_failed, ExitCause::fenced,
                          ExitCause::killed, ExitCause::program}) {
    Cluster c = cluster(nodes(3, gpus(8)));
    JobId gang = c.run(job("gang").nodes(2), {"node-1", "node-2"});
    FakeAgent(c, "node-1").report({exited({gang, 1, 0}, cause, 1)});
    FakeAgent(c, "node-2").report({exited({gang, 1, 1}, ExitCause::killed, 137)});
    JobId single = c.run(job("single"), {"node-3"});
    FakeAgent(c, "node-3").report({exited({single, 1, 0}, cause, 1)});
    const bool is_marked = cause == ExitCause::lost;
    const std::string word(to_string(cause));
    EXPECT_THAT(marks(c, "node-2"), IsEmpty()) << word;
    if (is_marked) {
      EXPECT_THAT(marks(c, "node-1"), ElementsAre("gang_failed " + word));
      EXPECT_THAT(marks(c, "node-3"), ElementsAre("job_failed " + word));
    } else {
      EXPECT_THAT(marks(c, "node-1"), IsEmpty()) << word;
      EXPECT_THAT(marks(c, "node-3"), IsEmpty()) << word;
    }
  }
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(IncidentOpened{{1}, std::string(kMassLoss), "cluster", "silent", {NodeId{1}}});
  JobId id = c.submit(job("j"));
  run_and_end(c, id, ExitCause::lost, 0);
  EXPECT_THAT(marks(c, "node-1"), IsEmpty()) << "the network's fault";
}

// The lesson: when a node dies, the other ranks fail on their broken connections first.
TEST(Blame, ANodeThatDiedExplainsTheFailuresBeforeIt) {
  for (ExitCause cause : {ExitCause::lost, ExitCause::fenced}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 1)});
    ASSERT_EQ(c.attempt(id).end->outcome, AttemptState::failed);
    if (cause == ExitCause::lost) {
      c.decide_with([&](Decision& decision) { decide_node_down(decision, NodeId{2}, "silent"); });
    } else {
      FakeAgent(c, "node-2").report({exited({id, 1, 1}, cause, 137)});
    }
    EXPECT_EQ(c.attempt(id).state, AttemptState::lost);
    EXPECT_FALSE(c.job(id).is_terminal()) << "not the job's fault";
    EXPECT_EQ(c.job(id).counters.requeue_count, 1);
    EXPECT_THAT(c.attempt(id).end->reason, HasSubstr("exited with code 1"));
  }
}

TEST(Blame, DoesNotExcuseAFailureWhenTheOthersWereJustKilled) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 1)});
  FakeAgent(c, "node-2").report({exited({id, 1, 1}, ExitCause::killed, 137)});
  EXPECT_EQ(c.job(id).state, JobState::failed);
}

TEST(Suspending, ASecondTimeKeepsTheFirstDeadline) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  auto suspend = [&](JobId beneficiary) {
    c.decide_with([&](Decision& decision) { suspend_attempt(decision, id, beneficiary, "asked"); });
  };
  suspend({});
  UnixTime deadline = *c.attempt(id).suspend_deadline;
  c.advance(10s);
  suspend(JobId{9});
  EXPECT_EQ(c.attempt(id).suspend_deadline, deadline);
  EXPECT_FALSE(c.attempt(id).suspended_for);
}

}  // namespace
}  // namespace hai::test
