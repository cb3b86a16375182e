// What each event does to the state.

#include "server/model/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/invariants.h"
#include "sim/checkers.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Submit, MakesAQueuedJobThatWaits) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j").request("r-1").priority(Priority::high));
  const Job& j = c.job(id);
  EXPECT_EQ(j.state, JobState::queued);
  EXPECT_EQ(j.submitted_at, c.now);
  EXPECT_TRUE(j.is_waiting());
  EXPECT_EQ(c.state().find_unfinished("ann", "j"), &j);
  EXPECT_EQ(c.state().find_request("ann", "r-1"), j.id);
  EXPECT_EQ(c.state().find_request("bob", "r-1"), std::nullopt);
  EXPECT_EQ(c.state().unfinished_count("ann"), 1);
  EXPECT_THAT(c.state().waiting(), ElementsAre(std::pair(-30, id)));
}

TEST(Waiting, IsInQueueOrder) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a").priority(Priority::low));
  JobId b = c.submit(job("b").priority(Priority::high));
  JobId d = c.submit(job("d").priority(Priority::high));
  EXPECT_THAT(c.state().waiting(),
              ElementsAre(std::pair(-30, b), std::pair(-30, d), std::pair(0, a)));
  c.emit(JobPriorityChanged{a, Priority::very_high});
  EXPECT_THAT(c.state().waiting(),
              ElementsAre(std::pair(-40, a), std::pair(-30, b), std::pair(-30, d)));
}

TEST(Placing, OccupiesTheNodesAndTakesTheJobOutOfTheQueue) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.place(job("j").nodes(2), {"node-1", "node-2"});
  EXPECT_EQ(c.attempt(id).state, AttemptState::placed);
  EXPECT_EQ(c.attempt(id).number, 1);
  EXPECT_EQ(c.job(id).state, JobState::queued) << "it has not run yet";
  EXPECT_THAT(c.state().waiting(), IsEmpty());
  EXPECT_THAT(c.state().live(), ElementsAre(id));
  EXPECT_THAT(c.node("node-1").occupants, ElementsAre(Occupant{id, 0, GpuSet::first(8)}));
  EXPECT_THAT(c.node("node-2").occupants, ElementsAre(Occupant{id, 1, GpuSet::first(8)}));
  EXPECT_TRUE(c.node("node-1").free_gpus().is_empty());
}

TEST(Running, CountsWhatTheProcessesOfAllAttemptsHaveUsed) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  const auto ends = [&](int rank, Duration cpu, int64_t bytes) {
    c.emit(RankEnded{id, c.attempt(id).number, rank, RankState::exited, ExitCause::go_suspend, 0,
                     "", RankUsage{cpu, bytes}});
  };
  ends(0, 90min, 7'000);
  EXPECT_EQ(c.job(id).counters.cpu_time, 90min);
  ends(1, 30min, 9'000);
  c.leave(id);
  c.place(id, c.on({"node-1", "node-2"}));
  c.confirm(id);
  ends(0, 1min, 8'000);
  c.emit(RankEnded{id, 2, 1, RankState::lost, ExitCause::lost, 0, "nobody knows"});
  EXPECT_EQ(c.job(id).counters.cpu_time, 121min);
  EXPECT_EQ(c.job(id).counters.peak_memory_bytes, 9'000);
}

TEST(Running, WhatAgentsSayThatWasUsedEndsSomewhere) {
  Cluster c = cluster(nodes(4, gpus(8)));
  const JobId id = c.run(job("j").nodes(4), {"node-1", "node-2", "node-3", "node-4"});
  for (int rank = 0; rank < 4; ++rank) {
    c.emit(RankEnded{id, 1, rank, RankState::exited, ExitCause::program, 0, "",
                     RankUsage{JobCounters::kCpuTimeMax / 2, 1}});
  }
  EXPECT_EQ(c.job(id).counters.cpu_time, JobCounters::kCpuTimeMax);
}

TEST(Running, StartsTheClockOnceAndForgetsLaunchFailures) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  c.emit(JobRequeued{id, true, true, "could not start"});
  EXPECT_EQ(c.job(id).launch_failures, 1);
  c.place(id, c.on({"node-1"}));
  UnixTime first = c.now;
  c.confirm(id);
  EXPECT_EQ(c.job(id).state, JobState::running);
  EXPECT_EQ(c.job(id).launch_failures, 0);
  c.advance(1h).leave(id);
  EXPECT_EQ(c.job(id).state, JobState::suspended);
  EXPECT_EQ(c.job(id).counters.suspend_count, 1);
  EXPECT_EQ(c.job(id).counters.run_seconds, 3600);
  c.advance(1h);
  c.place(id, c.on({"node-1"}));
  c.leave(id);
  EXPECT_EQ(c.job(id).counters.run_seconds, 3600) << "neither its wait nor what never ran counts";
  c.place(id, c.on({"node-1"}));
  c.confirm(id);
  EXPECT_EQ(c.attempt(id).number, 3);
  EXPECT_EQ(c.job(id).started_at, first);
  EXPECT_EQ(c.attempt(id).running_at, first + 2h);
}

TEST(Suspending, OfAnAttemptThatNeverRanLeavesTheJobQueued) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.place(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "test"});
  c.leave(id);
  EXPECT_EQ(c.job(id).state, JobState::queued);
  EXPECT_TRUE(c.job(id).is_waiting());
}

TEST(Continuing, GoesBackToWhereTheAttemptStood) {
  for (AttemptState before :
       {AttemptState::placed, AttemptState::starting, AttemptState::running}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    JobId id = c.place(job("j").nodes(2), {"node-1", "node-2"});
    if (before != AttemptState::placed) c.emit(AttemptStarting{id, 1});
    if (before != AttemptState::placed) c.emit(RankRunning{id, 1, 0});
    if (before == AttemptState::running) c.emit(RankRunning{id, 1, 1});
    if (before == AttemptState::running) c.emit(AttemptRunning{id, 1});
    Attempt attempt = c.attempt(id);
    c.emit(AttemptSuspending{id, 1, c.now + 60s, JobId{7}, "test"});
    EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
    EXPECT_EQ(c.attempt(id).suspended_for, JobId{7});
    c.emit(AttemptContinued{id, 1, "test"});
    EXPECT_EQ(c.attempt(id), attempt) << to_string(before);
  }
}

TEST(Suspending, WhileRanksComeUpStillCountsAsHavingRun) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.place(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "test"});
  c.emit(RankRunning{id, 1, 0});
  c.emit(AttemptRunning{id, 1});
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
  EXPECT_EQ(c.job(id).state, JobState::running);
  c.leave(id);
  EXPECT_EQ(c.job(id).state, JobState::suspended);
}

TEST(Reservation, HoldsGpusForOneJobOnly) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  JobId high = c.submit(job("high").priority(Priority::high));
  c.emit(NodesReserved{high, {c.on({"node-1"}), Priority::high, {low}, c.now}});
  EXPECT_THAT(c.state().reserved(), ElementsAre(high));
  EXPECT_THAT(c.node("node-1").held, ElementsAre(Held{high, GpuSet::first(8)}));
  c.leave(low);
  EXPECT_TRUE(c.node("node-1").free_gpus().is_empty());
  EXPECT_EQ(c.node("node-1").free_gpus(high), GpuSet::first(8));
  c.place(high, c.on({"node-1"}));
  EXPECT_THAT(c.state().reserved(), IsEmpty());
  EXPECT_THAT(c.node("node-1").held, IsEmpty());
}

TEST(Reservation, GivenBackFreesTheGpus) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  c.emit(NodesReserved{id, {c.on({"node-1"}), Priority::normal, {}, c.now}});
  c.emit(ReservationDropped{id, "test"});
  EXPECT_EQ(c.node("node-1").free_gpus(), GpuSet::first(8));
  EXPECT_FALSE(c.job(id).reservation.has_value());
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(Dependencies, AreMetOneByOne) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b"));
  JobId last = c.submit(job("last").depends_on("a").depends_on("b"));
  c.finish(a);
  EXPECT_THAT(c.job(last).unmet_dependencies, ElementsAre(Dependency{b}));
  c.finish(b);
  EXPECT_THAT(c.job(last).unmet_dependencies, IsEmpty());
  EXPECT_FALSE(c.job(last).failed_dependency);
}

TEST(Dependencies, ThatFailAreRemembered) {
  for (JobState end : {JobState::failed, JobState::stopped}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    JobId a = c.submit(job("a"));
    JobId b = c.submit(job("b").depends_on("a"));
    c.finish(a, end);
    EXPECT_EQ(c.job(b).failed_dependency, a);
    EXPECT_FALSE(c.job(b).is_terminal());
  }
}

TEST(Finishing, FreesTheName) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  c.finish(a, JobState::stopped);
  EXPECT_EQ(c.state().find_unfinished("ann", "a"), nullptr);
  EXPECT_EQ(c.state().unfinished_count("ann"), 0);
  JobId again = c.submit(job("a"));
  EXPECT_EQ(c.state().find_unfinished("ann", "a")->id, again);
}

TEST(Avoiding, KeepsTheNewestNodesWithoutRepeats) {
  Cluster c = cluster(nodes(40, gpus(8)));
  JobId id = c.submit(job("j"));
  for (int i = 1; i <= 40; ++i) {
    c.place(id, c.on({fmt::format("node-{}", i)}));
    c.emit(AttemptEnding{id, i, {AttemptState::lost, 0, "test", true}});
    c.emit(RankEnded{id, i, 0, RankState::lost, ExitCause::lost, 0, ""});
    c.emit(AttemptEnded{id, i, AttemptState::lost, "test", 0, {NodeId{i}, NodeId{i}}});
  }
  ASSERT_EQ(c.job(id).avoid.size(), Job::kAvoidMax);
  EXPECT_EQ(c.job(id).avoid.front(), NodeId{9});
  EXPECT_EQ(c.job(id).avoid.back(), NodeId{40});
}

TEST(Requeue, CountsFaultsAndFailuresApart) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  c.emit(JobRequeued{id, true, false, "node lost"});
  c.emit(JobRequeued{id, false, false, "exit code 1"});
  c.emit(JobRequeued{id, true, true, "could not start"});
  EXPECT_EQ(c.job(id).counters.requeue_count, 2);
  EXPECT_EQ(c.job(id).failure_restarts, 1);
  EXPECT_EQ(c.job(id).launch_failures, 1);
}

TEST(Epoch, NewLeaderTrustsNoNodeUntilItReports) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.set_liveness("node-2", Liveness::down);
  c.emit(EpochStarted{Epoch{2}});
  EXPECT_EQ(c.node("node-1").liveness, Liveness::suspect);
  EXPECT_EQ(c.node("node-2").liveness, Liveness::down);
}

TEST(Evicting, ForgetsTheJobsThatEndedFirst) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId slow = c.submit(job("slow").request("r"));
  JobId quick = c.submit(job("quick"));
  c.finish(quick);
  c.advance(1h).finish(slow);
  ClusterState state = c.state();
  state.evict_finished(1);
  EXPECT_EQ(state.find(quick), nullptr);
  ASSERT_NE(state.find(slow), nullptr) << "it ended just now: somebody may be waiting for it";
  state.evict_finished(0);
  EXPECT_EQ(state.find(slow), nullptr);
  EXPECT_EQ(state.find_request("ann", "r"), std::nullopt);
}

TEST(Touched, NamesTheRowsThatChanged) {
  Cluster c = cluster(nodes(1, gpus(8)));
  ClusterState state = c.state();
  state.take_touched();
  auto apply = [&](EventBody body) {
    state.apply({state.last_seq() + 1, c.now, "test", std::move(body)});
    return state.take_touched();
  };
  EXPECT_THAT(apply(JobSubmitted{JobId{1}, "ann", "", std::make_shared<JobSpec>(), {}}).jobs,
              ElementsAre(JobId{1}));
  EXPECT_THAT(apply(JobHeld{JobId{1}, "x"}).jobs, ElementsAre(JobId{1}));
  EXPECT_THAT(apply(NodeSchedulingChanged{NodeId{1}, Scheduling::cordoned, "x", "ann"}).nodes,
              ElementsAre(NodeId{1}));
  EXPECT_THAT(apply(UserSet{{.name = "bob"}}).users, ElementsAre("bob"));
  EXPECT_THAT(apply(TokenSet{{.hash = "h", .user = "ann"}}).tokens, ElementsAre("h"));
  EXPECT_THAT(apply(TokensUsed{{{"h", c.now}, {"unknown", c.now}}}).tokens, ElementsAre("h"));
  EXPECT_EQ(state.find_token("h")->last_used_at, c.now);
  const auto key = std::pair<std::string, std::string>("ann", "s");
  EXPECT_THAT(apply(SecretSet{{.user = "ann", .name = "s"}}).secrets, ElementsAre(key));
  EXPECT_THAT(apply(SecretRemoved{"ann", "s"}).secrets, ElementsAre(key));
  EXPECT_EQ(state.find_secret("ann", "s"), nullptr);
  EXPECT_THAT(apply(NodeIdentitySet{{.node = "n"}, ""}).identities, ElementsAre("n"));
  EXPECT_EQ(apply(QuotaSet{{"bob", "*", Priority::low, 1}}).quotas.size(), 1u);
  EXPECT_THAT(state.take_touched().jobs, IsEmpty());
}

TEST(Touched, IncludesDependentsOfAFinishedJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b").depends_on("a"));
  ClusterState state = c.state();
  state.take_touched();
  state.apply({state.last_seq() + 1, c.now, "test", JobFinished{a, JobState::failed, 1, "test"}});
  EXPECT_THAT(state.take_touched().jobs, ElementsAre(a, b));
}

TEST(Loading, GivesAnEqualState) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("runs").nodes(2).priority(Priority::low), {"node-1", "node-2"});
  JobId waits = c.submit(job("waits").priority(Priority::high).request("r"));
  c.submit(job("depends").depends_on("waits"));
  c.emit(NodesReserved{waits, {c.on({"node-1"}), Priority::high, {JobId{1}}, c.now}});
  ClusterState loaded(stored_state_of(c.state()));
  EXPECT_TRUE(loaded.equals(c.state()));
  EXPECT_EQ(loaded.find_request("ann", "r"), waits);
  EXPECT_EQ(loaded.unfinished_count("ann"), 3);
  Event finished{loaded.last_seq() + 1, c.now, "test",
                 JobFinished{waits, JobState::stopped, 0, "x"}};
  EXPECT_DEATH(loaded.apply(finished), "reservation") << "a job never ends while it holds nodes";
}

}  // namespace
}  // namespace hai::test
