// The second phase: victims leave, the beneficiary starts; or somebody changes his mind. And
// drains, which move jobs without a beneficiary.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two low jobs run on two nodes, `big` has both nodes reserved.
struct Held {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId a = c.run(low("a"), {"node-1"});
  JobId b = c.run(low("b"), {"node-2"});
  JobId blocker = c.run(job("top").priority(Priority::extreme_high), {"node-3"});
  JobId big = c.submit(high("big").nodes(2));
  Held() { c.pass(); }
};

TEST(Reservation, StartsWhenTheLastVictimHasLeft) {
  Held h;
  h.c.leave(h.a);
  EXPECT_THAT(h.c.plan().starts, IsEmpty());
  h.c.leave(h.b);
  EXPECT_THAT(starts(h.c, h.c.pass()), ElementsAre("big: node-1,node-2"));
  EXPECT_FALSE(h.c.job(h.big).reservation.has_value());
}

TEST(Reservation, BeneficiaryStoppedLetsVictimsGoOn) {
  Held h;
  h.c.emit(ReservationDropped{h.big, "stopped"});
  h.c.emit(JobFinished{h.big, JobState::stopped, 0, "stopped"});
  EXPECT_THAT(jobs(h.c, h.c.pass().continues), ElementsAre("a", "b"));
  EXPECT_EQ(h.c.attempt(h.a).state, AttemptState::running);
  EXPECT_FALSE(h.c.attempt(h.a).suspended_for);
}

TEST(Reservation, BeneficiaryHeldLetsVictimsGoOn) {
  Held h;
  h.c.emit(JobHeld{h.big, "test"});
  Plan plan = h.c.plan();
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("big"));
  EXPECT_THAT(jobs(h.c, plan.continues), ElementsAre("a", "b"));
  EXPECT_EQ(pending_code(plan, h.big), "held");
}

TEST(Reservation, WhoLostItsNodesSaysWhatItWaitsForUntilThatIsStored) {
  Held h;
  h.c.set_scheduling("node-2", Scheduling::cordoned);
  const std::unique_ptr<Planner> planner = make_planner(VictimChoice::least_lost_work);
  EXPECT_THAT(jobs(h.c, planner->pass(h.c.state(), h.c.knobs, h.c.now).drops), ElementsAre("big"));
  EXPECT_EQ(planner->pending_reason(h.c.state(), h.c.job(h.big)).code, PendingCode::resources);
}

TEST(Reservation, AVictimItsUserSuspendedMeanwhileLeavesAllTheSame) {
  Held h;
  EXPECT_TRUE(h.c.decide(SuspendJob{"a", ""}).is_ok());
  h.c.emit(JobHeld{h.big, "test"});
  EXPECT_THAT(jobs(h.c, h.c.pass().continues), ElementsAre("b"));
}

TEST(Reservation, AVictimThatWasAskedBeforeItRanLeavesAllTheSame) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId early = c.place(low("early"), {"node-1"});
  c.run(low("late"), {"node-2"});
  JobId big = c.submit(high("big").nodes(2));
  c.pass();
  ASSERT_EQ(c.attempt(early).state, AttemptState::suspending);
  c.emit(JobHeld{big, "test"});
  EXPECT_THAT(jobs(c, c.plan().continues), ElementsAre("late"));
  c.emit(RankRunning{early, 1, 0});
  c.emit(AttemptRunning{early, 1});
  EXPECT_THAT(jobs(c, c.pass().continues), ElementsAre("early", "late"))
      << "it was seen running, and had its grace";
}

TEST(Reservation, AVictimWhoseGraceIsOverLeavesAllTheSame) {
  Held h;
  h.c.emit(JobHeld{h.big, "test"});
  h.c.advance(*h.c.attempt(h.a).suspend_deadline - h.c.now);
  EXPECT_THAT(h.c.plan().continues, IsEmpty());
  h.c.advance(-1us);
  EXPECT_THAT(jobs(h.c, h.c.plan().continues), ElementsAre("a", "b"));
}

TEST(Reservation, AVictimOnADrainingNodeLeavesAllTheSame) {
  Held h;
  h.c.set_scheduling("node-1", Scheduling::draining);
  h.c.emit(JobHeld{h.big, "test"});
  EXPECT_THAT(jobs(h.c, h.c.plan().continues), ElementsAre("b"));
}

TEST(Reservation, MovesWhenANodeOfItGoesAway) {
  Cluster c = cluster(nodes(3, gpus(8)));
  for (int i = 1; i <= 3; ++i) c.run(low(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  JobId big = c.submit(high("big").nodes(2));
  c.pass();
  c.set_liveness("node-1", Liveness::suspect);
  Plan plan = c.pass();
  EXPECT_THAT(jobs(c, plan.drops), ElementsAre("big"));
  EXPECT_THAT(reserves(c, plan), ElementsAre("big: node-2,node-3 <- v2,v3"));
  EXPECT_THAT(jobs(c, plan.continues), ElementsAre("v1"));
  EXPECT_EQ(c.attempt(JobId{2}).state, AttemptState::suspending) << "v2 was leaving anyway";
  EXPECT_EQ(pending_code(plan, big), "preempting");
}

TEST(Reservation, WithoutANewPlaceExplainsItself) {
  Held h;
  h.c.set_liveness("node-1", Liveness::down);
  Plan plan = h.c.plan();
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("big"));
  EXPECT_EQ(pending_code(plan, h.big), "resources");
}

TEST(Reservation, OfALowerJobIsTakenBack) {
  Held h;
  JobId top = h.c.submit(job("top2").nodes(2).priority(Priority::very_high));
  Plan plan = h.c.pass();
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("big"));
  EXPECT_THAT(reserves(h.c, plan), ElementsAre("top2: node-1,node-2 <- a,b"));
  EXPECT_THAT(plan.continues, IsEmpty()) << "a and b are needed all the same";
  EXPECT_EQ(pending_code(plan, h.big), "resources");
  h.c.leave(h.a);
  h.c.leave(h.b);
  EXPECT_THAT(jobs(h.c, h.c.pass().starts), ElementsAre("top2"));
  EXPECT_TRUE(h.c.job(top).has_live_attempt());
}

TEST(Reservation, OfALowerJobThatCouldStartNowIsTakenBackToo) {
  Held h;
  h.c.leave(h.a);
  h.c.leave(h.b);
  h.c.submit(job("top2").nodes(2).priority(Priority::very_high));
  Plan plan = h.c.pass();
  EXPECT_THAT(starts(h.c, plan), ElementsAre("top2: node-1,node-2"));
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("big"));
}

TEST(Reservation, OfAnEqualOrHigherJobStands) {
  Held h;
  JobId equal = h.c.submit(high("equal").nodes(2));
  Plan plan = h.c.plan();
  EXPECT_THAT(plan.drops, IsEmpty());
  EXPECT_EQ(pending_code(plan, equal), "resources");
}

TEST(Reservation, OnlyAsManyAsNeededAreTakenBack) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.submit(job("n1"));
  c.submit(job("n2"));
  c.pass();
  c.submit(high("top"));
  Plan plan = c.pass();
  EXPECT_THAT(jobs(c, plan.drops), ElementsAre("n2")) << "the younger one gives way";
  EXPECT_THAT(reserves(c, plan), ElementsAre("top: node-2 <- b"));
}

TEST(Reservation, TakenBackGivesItsQuotaBackInTheSamePass) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"));
  c.clear_quotas().set_quota("public", "*", Priority::low, 9);
  c.set_quota("public", "*", Priority::very_high, 9).set_quota("ann", "*", Priority::high, 3);
  c.run(low("a").user("bob"), {"node-1"});
  c.run(low("b").user("bob"), {"node-2"});
  const JobId big = c.submit(high("big").nodes(2).zone("A"));
  c.pass();
  ASSERT_TRUE(c.job(big).reservation.has_value());
  c.submit(high("one").zone("B"));
  c.submit(high("two").zone("B"));
  EXPECT_THAT(jobs(c, c.plan().starts), ElementsAre("one")) << "big uses two of three nodes";
  c.submit(job("top").user("bob").priority(Priority::very_high).nodes(2).zone("A"));
  EXPECT_THAT(jobs(c, c.plan().starts), ElementsAre("one", "two"));
}

TEST(Reservation, AVictimThatCameBackElsewhereIsNoVictimAnyMore) {
  Cluster c = cluster(nodes(2, gpus(8)), nodes(1, gpus(8)).zone("B"));
  const JobId a = c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.submit(high("big").nodes(2).zone("A"));
  c.pass();
  c.leave(a);
  c.pass();  // a starts again, on node-3
  ASSERT_TRUE(c.job(a).has_live_attempt());
  c.confirm(a);
  const JobId other = c.submit(high("other").zone("B"));
  c.pass();
  EXPECT_EQ(c.attempt(a).suspended_for, other);
  c.emit(ReservationDropped{other, "test"});
  c.finish(other, JobState::stopped);
  EXPECT_THAT(jobs(c, c.pass().continues), ElementsAre("a"))
      << "big waits for b alone: a's old attempt is over";
}

TEST(Reservation, OutlivesAChangeOfLeader) {
  Held h;
  h.c.emit(EpochStarted{Epoch{2}});
  Plan plan = h.c.plan();
  EXPECT_THAT(plan.drops, IsEmpty());
  EXPECT_THAT(plan.continues, IsEmpty()) << "victims do not go on just to leave again";
  EXPECT_EQ(pending_code(plan, h.big), "preempting");
  h.c.leave(h.a);
  h.c.leave(h.b);
  plan = h.c.plan();
  EXPECT_THAT(plan.starts, IsEmpty());
  EXPECT_EQ(pending_code(plan, h.big), "recovering");
  h.c.set_liveness("node-1", Liveness::up).set_liveness("node-2", Liveness::up);
  EXPECT_THAT(starts(h.c, h.c.plan()), ElementsAre("big: node-1,node-2"));
}

TEST(Reservation, DoesNotWaitForEverForNodesThatDoNotComeBack) {
  Held h;
  h.c.emit(EpochStarted{Epoch{2}});
  h.c.advance(30s);
  Plan plan = h.c.plan();
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("big"));
  EXPECT_THAT(jobs(h.c, plan.continues), ElementsAre("a", "b"));
}

TEST(Reservation, GivesWayToQuotaUsedMeanwhile) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.clear_quotas().set_quota("public", "*", Priority::low, 9);
  c.set_quota("ann", "*", Priority::high, 1);
  c.run(low("a").user("bob"), {"node-1"});
  JobId first = c.submit(high("first"));
  c.run(low("b").user("bob"), {"node-2"});
  c.pass();
  ASSERT_TRUE(c.job(first).reservation.has_value());
  c.set_quota("ann", "*", Priority::high, 0);
  Plan plan = c.plan();
  EXPECT_THAT(jobs(c, plan.drops), ElementsAre("first"));
  EXPECT_EQ(pending_code(plan, first), "quota");
}

// `late` waits for node-1, where `a` takes an hour to leave; `b` runs on node-2.
struct LongGrace {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId a = c.run(low("a").grace(1h), {"node-1"});
  JobId b = c.run(job("b").priority(Priority::extreme_high), {"node-2"});
  JobId late = c.submit(high("late"));
  LongGrace() {
    EXPECT_THAT(reserves(c, c.pass()), ElementsAre("late: node-1 <- a"));
    c.advance(1min);
    c.finish(b);
  }
};

TEST(Reservation, TakesFreeNodesRatherThanWaitForAVictim) {
  LongGrace h;
  const Plan plan = h.c.pass();
  EXPECT_THAT(starts(h.c, plan), ElementsAre("late: node-2"));
  EXPECT_THAT(jobs(h.c, plan.continues), ElementsAre("a"));
  EXPECT_EQ(h.c.attempt(h.a).state, AttemptState::running);
  EXPECT_FALSE(h.c.job(h.late).reservation.has_value());
  EXPECT_THAT(h.c.plan().starts, IsEmpty());
}

TEST(Reservation, WaitsForAMomentForItsVictims) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  const JobId b = c.run(job("b").priority(Priority::extreme_high), {"node-2"});
  c.submit(high("late"));
  c.pass();
  c.finish(b);
  c.advance(c.knobs.checkpoint_patience - 1us);
  EXPECT_THAT(c.plan().starts, IsEmpty());
  c.advance(1us);
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("late: node-2"));
}

TEST(Reservation, LeavesFreeNodesToWhoeverIsBetter) {
  LongGrace h;
  h.c.submit(job("better").priority(Priority::very_high));
  h.c.submit(low("worse"));
  const Plan plan = h.c.pass();
  EXPECT_THAT(starts(h.c, plan), ElementsAre("better: node-2"));
  EXPECT_THAT(plan.drops, IsEmpty()) << "what is held for it stays";
  EXPECT_EQ(pending_code(plan, h.late), "preempting");
}

TEST(Reservation, OfAGangTakesWhatIsFreeBesidesItsOwn) {
  Cluster c = cluster(nodes(3, gpus(8)));
  const JobId a = c.run(low("a"), {"node-1"});
  c.run(low("b").grace(1h), {"node-2"});
  const JobId top = c.run(job("top").priority(Priority::extreme_high), {"node-3"});
  c.submit(high("gang").nodes(2));
  c.pass();
  c.leave(a);
  EXPECT_THAT(c.pass().starts, IsEmpty());
  c.finish(top);
  const Plan plan = c.pass();
  EXPECT_THAT(starts(c, plan), ElementsAre("gang: node-1,node-3"));
  EXPECT_THAT(jobs(c, plan.continues), ElementsAre("b"));
}

TEST(Reservation, AcrossZonesMovesAcrossZones) {
  Cluster c = cluster(nodes(2, gpus(8)), nodes(2, gpus(8)).zone("B"));
  c.knobs.max_cross_zone_jobs = 1;
  c.run(low("a").grace(1h), {"node-1"});
  for (int node : {2, 3}) c.run(low(fmt::format("v{}", node)), {fmt::format("node-{}", node)});
  const JobId top = c.run(job("top").priority(Priority::extreme_high), {"node-4"});
  c.submit(high("wide").nodes(3));
  ASSERT_THAT(reserves(c, c.pass()), ElementsAre("wide: node-1,node-2,node-3 <- a,v2,v3"));
  c.leave(JobId{2});
  c.leave(JobId{3});
  EXPECT_THAT(c.pass().starts, IsEmpty());
  c.finish(top);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("wide: node-2,node-3,node-4"));
}

// A rank of `gang` failed on node-1; the other one is on a node that fell silent with many.
struct MassLoss {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId gang = c.run(low("gang").nodes(2), {"node-1", "node-2"});
  MassLoss() {
    c.run(low("victim"), {"node-3"});
    c.set_liveness("node-2", Liveness::suspect);
    c.emit(RankEnded{gang, 1, 0, RankState::exited, ExitCause::program, 1, ""});
    AttemptEnd end{.outcome = AttemptState::failed, .exit_code = 1, .reason = "test"};
    c.emit(AttemptEnding{gang, 1, end});
  }
  void open() {
    c.emit(IncidentOpened{
        IncidentId{1}, std::string(kMassLoss), "cluster", "", {c.node_id("node-2")}});
  }
};

TEST(Reservation, IsNotOfNodesThatNobodyKnowsWhenTheyAreLeft) {
  MassLoss h;
  h.c.submit(high("high"));
  EXPECT_THAT(reserves(h.c, h.c.plan()), ElementsAre("high: node-1 <- gang"))
      << "one silent node is down soon";
  h.open();
  EXPECT_THAT(reserves(h.c, h.c.pass()), ElementsAre("high: node-3 <- victim"));
}

TEST(Reservation, DoesNotWaitForAGangWithARankOnASilentNode) {
  MassLoss h;
  h.c.submit(high("high"));
  h.c.pass();
  h.open();
  const Plan plan = h.c.pass();
  EXPECT_THAT(jobs(h.c, plan.drops), ElementsAre("high"));
  EXPECT_THAT(reserves(h.c, plan), ElementsAre("high: node-3 <- victim"));
}

TEST(Reservation, DoesNotWaitForAVictimWithARankOnASilentNode) {
  Cluster c = cluster(nodes(3, gpus(8)));
  const JobId gang = c.run(low("gang").nodes(2), {"node-1", "node-2"});
  c.run(low("victim"), {"node-3"});
  c.advance(3h);
  c.checkpoint(gang, 1s);
  c.submit(high("high"));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("high: node-1 <- gang"));
  c.emit(RankEnded{gang, 1, 0, RankState::exited, ExitCause::left, 143, ""});
  c.set_liveness("node-2", Liveness::suspect);
  c.emit(
      IncidentOpened{IncidentId{1}, std::string(kMassLoss), "cluster", "", {c.node_id("node-2")}});
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("high: node-3 <- victim"));
  EXPECT_THAT(c.plan().drops, IsEmpty());
}

TEST(Reservation, AVictimOfWhichARankHasLeftLeavesAllTheSame) {
  for (const ExitCause cause : {ExitCause::left, ExitCause::program}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    const JobId gang = c.run(low("gang").nodes(2), {"node-1", "node-2"});
    const JobId big = c.submit(high("big").nodes(2));
    c.pass();
    c.emit(RankEnded{gang, 1, 0, RankState::exited, cause, 1, ""});
    c.emit(JobHeld{big, "test"});
    EXPECT_THAT(c.plan().continues, IsEmpty());
  }
}

TEST(Drain, MovesJobsAwayWithoutABeneficiary) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("gang").nodes(2), {"node-1", "node-2"});
  c.set_scheduling("node-1", Scheduling::draining);
  EXPECT_THAT(jobs(c, c.pass().suspends), ElementsAre("gang"));
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
  EXPECT_FALSE(c.attempt(id).suspended_for);
  EXPECT_THAT(c.plan().suspends, IsEmpty()) << "asked once";
  EXPECT_THAT(c.plan().continues, IsEmpty());
}

TEST(Drain, OfTwoNodesSuspendsAGangOnce) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("gang").nodes(2), {"node-1", "node-2"});
  c.set_scheduling("node-1", Scheduling::draining).set_scheduling("node-2", Scheduling::draining);
  EXPECT_THAT(c.plan().suspends, ::testing::SizeIs(1));
}

TEST(Drain, LetsTheJobRunElsewhere) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  c.set_scheduling("node-1", Scheduling::draining);
  c.pass();
  c.leave(id);
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("j: node-2"));
}

TEST(Cordon, LeavesJobsAlone) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("j"), {"node-1"});
  c.set_scheduling("node-1", Scheduling::cordoned);
  EXPECT_THAT(c.plan().suspends, IsEmpty());
}

}  // namespace
}  // namespace hai::test
