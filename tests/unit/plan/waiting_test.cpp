// Buckets of jobs that differ in nothing but their place, and how time moves jobs between them.

#include "server/plan/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/plan/time_sharing.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

// A planner that follows the cluster's changes, as in production.
class Waiting : public ::testing::Test {
 protected:
  const WaitingIndex& index() { return planner_.index_at(c.state(), c.knobs, c.now).waiting; }
  const WaitingIndex& index_after(JobId changed) {
    planner_.update(c.state(), {.jobs = {changed}});
    return index();
  }
  size_t buckets() {
    return static_cast<size_t>(std::ranges::count_if(
        index().buckets(), [](const auto& bucket) { return !bucket->jobs.empty(); }));
  }

  Cluster c = cluster(nodes(4, gpus(8)));

 private:
  TimeSharingPlanner planner_{VictimChoice::least_lost_work};
};

TEST_F(Waiting, LikeJobsShareABucket) {
  for (int i = 0; i < 5; ++i) c.submit(job(fmt::format("j{}", i)).nodes(2));
  EXPECT_EQ(buckets(), 1U);
  EXPECT_EQ(index().find(JobId{1})->jobs.size(), 5U);
}

TEST_F(Waiting, UserLevelShapeAndClassEachMakeOne) {
  c.submit(job("plain"));
  c.submit(job("user").user("bob"));
  c.submit(job("level").priority(Priority::high));
  c.submit(job("nodes").nodes(2));
  c.submit(job("share").gpus(4));
  c.submit(job("zone").zone("A"));
  ran(c, job("class"), "node-1", 1h);
  EXPECT_EQ(buckets(), 7U);
}

TEST_F(Waiting, AUsersOwnOrderComesBeforeSubmitOrder) {
  const JobId first = c.submit(job("first"));
  const JobId second = c.submit(job("second"));
  index();
  c.emit(JobRankChanged{second, 0});
  EXPECT_EQ(index_after(second).find(first)->jobs.begin()->second, second);
}

TEST_F(Waiting, OnlyThoseThatMayRun) {
  const JobId held = c.submit(job("held"));
  c.submit(job("first"));
  const JobId dependent = c.submit(job("dependent").depends_on("first"));
  c.emit(JobHeld{held, "test"});
  EXPECT_EQ(index().find(held), nullptr);
  EXPECT_EQ(index().find(dependent), nullptr);
  c.emit(JobReleased{held});
  EXPECT_NE(index_after(held).find(held), nullptr);
}

TEST_F(Waiting, AJobWithAReservationIsNotLookedAtAgain) {
  const JobId id = c.submit(job("j"));
  ASSERT_NE(index().find(id), nullptr);
  c.emit(NodesReserved{id, {c.on({"node-1"}), Priority::normal, {}, c.now}});
  EXPECT_EQ(index_after(id).find(id), nullptr);
}

TEST_F(Waiting, ItsBeginTimeComesByItself) {
  const JobId id = c.submit(job("later").begin_at(c.now + 1h));
  EXPECT_EQ(index().find(id), nullptr);
  c.advance(1h - 1us);
  EXPECT_EQ(index().find(id), nullptr);
  c.advance(1us);
  EXPECT_NE(index().find(id), nullptr);
}

TEST_F(Waiting, MaxLeavesBindsForAMoment) {
  const JobId id = c.submit(job("tight").nodes(2).max_leaves(1));
  EXPECT_EQ(index().find(id)->shape->demand.max_leaves, 1);
  c.advance(c.knobs.tight_wait);
  EXPECT_EQ(index().find(id)->shape->demand.max_leaves, 0);
}

TEST_F(Waiting, LiftsAClassForEachHourOrSo) {
  const JobId id = c.submit(job("j"));
  EXPECT_EQ(index().find(id)->feedback_class, 0);
  c.advance(c.knobs.promote_after - 1us);
  EXPECT_EQ(index().find(id)->feedback_class, 0);
  c.advance(c.knobs.promote_after / 2);  // Lifts are spread over as much.
  EXPECT_EQ(index().find(id)->feedback_class, -1);
  c.advance(3 * c.knobs.promote_after);
  EXPECT_EQ(index().find(id)->feedback_class, -4);
  c.advance(1'000 * c.knobs.promote_after);
  EXPECT_EQ(index().find(id)->feedback_class, kClassMin);
}

TEST_F(Waiting, LiftsWhenItSaidItWould) {
  for (int i = 0; i < 70; ++i) {
    const JobId id = c.submit(job(fmt::format("j{}", i)));
    const Job& waits = c.job(id);
    UnixTime next = c.now;
    for (int lifts = 0; lifts < 4; ++lifts) {
      UnixTime then{};
      EXPECT_EQ(waiting_class(c.knobs, waits, next, &then), -lifts);
      UnixTime same{};
      EXPECT_EQ(waiting_class(c.knobs, waits, then - 1us, &same), -lifts);
      EXPECT_EQ(same, then);
      next = then;
    }
  }
}

TEST_F(Waiting, NobodyIsLiftedUnderFifo) {
  c.knobs.policy = Policy::fifo;
  const JobId id = c.submit(job("j"));
  c.advance(100h);
  EXPECT_EQ(index().find(id)->feedback_class, 0);
}

TEST_F(Waiting, MayCrossZonesOnlyIfNoZoneCouldEverHoldIt) {
  c = cluster(nodes(3, gpus(8)).zone("A"), nodes(3, gpus(8)).zone("B"));
  const JobId three = c.submit(job("three").nodes(3));
  const JobId four = c.submit(job("four").nodes(4));
  const JobId never = c.submit(job("never").nodes(4).cross_zone(CrossZone::never));
  EXPECT_FALSE(index().find(three)->shape->demand.may_cross_zones);
  EXPECT_TRUE(index().find(four)->shape->demand.may_cross_zones);
  EXPECT_FALSE(index().find(never)->shape->demand.may_cross_zones);
}

// The state forgets jobs that have ended, and the planner hears of both at once.
TEST(Following, WhatAForgottenJobUsedOfItsQuotaIsFree) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.set_quota("ann", "training", Priority::normal, 1);
  const JobId first = c.run(job("first"), {"node-1"});
  const JobId second = c.submit(job("second"));
  ClusterState state = c.state();
  TimeSharingPlanner planner(VictimChoice::least_lost_work);
  planner.update(state, state.take_changes());
  ASSERT_TRUE(planner.pass(state, c.knobs, c.now).starts.empty());
  const size_t known = c.events().size();
  c.finish(first);
  for (size_t i = known; i < c.events().size(); ++i) state.apply(c.events()[i]);
  state.evict_finished(0);
  ASSERT_EQ(state.find(first), nullptr);
  planner.update(state, state.take_changes());
  const Plan plan = planner.pass(state, c.knobs, c.now);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job, second);
}

// To count nodes for a size of ranks that nobody else asks for takes time, for each size anew.
TEST_F(Waiting, OfVeryManySizesEachHasItsTurn) {
  c = cluster(nodes(4, gpus(8)).memory_gib(1'000));
  constexpr size_t kSizes = WaitingIndex::kSizesOfPass;
  for (size_t i = 1; i <= kSizes; ++i) {
    c.submit(job(fmt::format("a{}", i)).gpus(8).memory_gib(static_cast<int64_t>(i)));
  }
  EXPECT_TRUE(index().left_out(c.now, 1s).empty());
  c.submit(job("plain"));
  c.submit(job("bob").user("bob").gpus(8).memory_gib(900));
  for (size_t i = 1; i <= 2 * kSizes; ++i) {
    c.submit(job(fmt::format("b{}", i)).gpus(8).memory_gib(100 + static_cast<int64_t>(i)));
  }
  c.take_changes();
  TimeSharingPlanner planner{VictimChoice::least_lost_work};
  const WaitingIndex& all = planner.index_at(c.state(), c.knobs, c.now).waiting;
  std::map<const Bucket*, int> looked_at;
  for (int turn = 0; turn < 6; ++turn) {
    const std::set<const Bucket*> left = all.left_out(c.now + turn * 1s, 1s);
    EXPECT_EQ(left.size(), 3 * kSizes - kSizes / 2) << "half are for ann, half for bob";
    for (const auto& bucket : all.buckets())
      looked_at[bucket.get()] += !left.contains(bucket.get());
  }
  EXPECT_EQ(looked_at.size(), 3 * kSizes + 2);
  for (const auto& [bucket, times] : looked_at) {
    const bool is_anns =
        bucket->shape->size != 0 &&
        bucket->person != all.find(c.state().find_unfinished("bob", "bob")->id)->person;
    EXPECT_EQ(times, is_anns ? 1 : 6);
  }
}

TEST_F(Waiting, WhoIsLeftOutIsToldSoAndIsNotInAWhatIf) {
  constexpr int kJobs = 40;
  c = cluster(nodes(kJobs, gpus(8)).memory_gib(1'000));
  for (int i = 1; i <= kJobs; ++i) c.submit(job(fmt::format("j{}", i)).gpus(8).memory_gib(i));
  const std::unique_ptr<Planner> planner = make_planner();
  const Plan plan = planner->pass(c.state(), c.knobs, c.now);
  EXPECT_EQ(plan.starts.size(), WaitingIndex::kSizesOfPass);
  std::set<JobId> started;
  for (const StartItem& item : plan.starts) started.insert(item.job);
  for (const auto& [order, id] : c.state().waiting()) {
    if (started.contains(id)) continue;
    const PendingReason reason = planner->pending_reason(c.state(), c.job(id));
    EXPECT_EQ(reason.code, PendingCode::not_considered);
    EXPECT_NE(reason.text.find("looked at in turns"), std::string::npos) << reason.text;
  }
  EXPECT_EQ(planner->pass(c.state(), c.knobs, c.now + 1s).starts.size(),
            WaitingIndex::kSizesOfPass);
  const std::unique_ptr<Planner> of_what_if = make_planner(VictimChoice::least_lost_work, true);
  EXPECT_EQ(of_what_if->pass(c.state(), c.knobs, c.now).starts.size(), kJobs);
}

TEST_F(Waiting, ShapesThatNobodyAsksForAreForgotten) {
  c = cluster(nodes(4, gpus(8)).memory_gib(9'000));
  TimeSharingPlanner planner{VictimChoice::least_lost_work};
  planner.index_at(c.state(), c.knobs, c.now);
  size_t most = 0;
  for (int i = 1; i <= 6'000; ++i) {
    const JobId id = c.submit(job("j").gpus(8).memory_gib(i));
    planner.update(c.state(), c.take_changes());
    c.emit(JobFinished{id, JobState::stopped, 0, "test"});
    planner.update(c.state(), c.take_changes());
    most = std::max(most, planner.index_at(c.state(), c.knobs, c.now).waiting.shapes());
  }
  EXPECT_LE(most, 2'100U);
  c.submit(job("last").gpus(8).memory_gib(3));
  planner.update(c.state(), c.take_changes());
  EXPECT_EQ(planner.pass(c.state(), c.knobs, c.now).starts.size(), 1U);
}

}  // namespace
}  // namespace hai::test
