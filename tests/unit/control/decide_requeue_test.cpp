// Requeue: for jobs that run, leave, wait and have ended; by strangers; and where it runs next.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

TEST(Requeue, AsksARunningJobToLeaveAndHoldsNothing) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j").grace(90s), {"node-1"});
  EXPECT_EQ(c.decide(RequeueJob{"j", "new data"}).value().message,
            "requeueing; it has 1m30s to save and starts again by itself");
  EXPECT_FALSE(c.job(id).held);
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
  EXPECT_EQ(c.attempt(id).suspend_deadline, c.now + 90s);
  EXPECT_EQ(c.attempt(id).suspend_reason, "requeued by ann: new data");
  EXPECT_FALSE(c.attempt(id).suspended_for);
}

// The planner takes back a suspension whose beneficiary is gone; this one has none.
TEST(Requeue, IsNotTakenBackByThePlanner) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  ASSERT_TRUE(c.decide(RequeueJob{"j", ""}).is_ok());
  c.pass();
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
}

TEST(Requeue, StartsAgainByItself) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  ASSERT_TRUE(c.decide(RequeueJob{"j", ""}).is_ok());
  c.leave(id);
  EXPECT_EQ(c.job(id).state, JobState::suspended);
  c.pass();
  EXPECT_EQ(c.attempt(id).number, 2);
  EXPECT_EQ(c.attempt(id).state, AttemptState::placed);
}

TEST(Requeue, LeavesANodeThatIsClosed) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  c.set_scheduling("node-1", Scheduling::cordoned);
  ASSERT_TRUE(c.decide(RequeueJob{"j", ""}).is_ok());
  c.leave(id);
  c.pass();
  ASSERT_EQ(c.attempt(id).number, 2);
  EXPECT_EQ(c.attempt(id).ranks[0].place.node, c.node_id("node-2"));
}

TEST(Requeue, OfAHeldJobReleasesIt) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  ASSERT_TRUE(c.decide(SuspendJob{"j", ""}).is_ok());
  EXPECT_EQ(c.decide(RequeueJob{"j", ""}).value().message,
            "leaves already, and starts again by itself");
  EXPECT_FALSE(c.job(id).held);
  const size_t before = c.events().size();
  EXPECT_TRUE(c.decide(RequeueJob{"j", ""}).is_ok());
  EXPECT_EQ(c.events().size(), before);
}

TEST(Requeue, PromisesNothingOfAJobThatLeavesForAnotherOne) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, JobId{7}, "job 7 needs its nodes"});
  const size_t before = c.events().size();
  EXPECT_EQ(
      c.decide(RequeueJob{"j", ""}).value().message,
      "leaves already, for job 7; if that one needs its nodes no more, it goes on where it is");
  EXPECT_EQ(c.events().size(), before);
}

// One rank has failed, the others are still leaving: the job is about to fail.
TEST(Requeue, RefusesAJobThatIsEnding) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  c.emit(JobHeld{id, "held by ann"});
  c.emit(AttemptEnding{id, 1, {AttemptState::failed, 3, "rank 0 exited with 3", false, {}, false}});
  const size_t before = c.events().size();
  EXPECT_EQ(c.decide(RequeueJob{"j", ""}).status(),
            failed_precondition("job 1 is ending: rank 0 exited with 3"));
  EXPECT_EQ(c.events().size(), before) << "it is not released either";
}

TEST(Requeue, RefusesWhatDoesNotRun) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("waits"));
  EXPECT_EQ(c.decide(RequeueJob{"1", ""}).status(),
            failed_precondition("job 1 waits already: only a running job can be requeued"));
  c.finish(c.submit(job("ended")));
  EXPECT_EQ(c.decide(RequeueJob{"2", ""}).status(),
            failed_precondition("job 2 has succeeded: only a running job can be requeued"));
  c.run(job("stops"), {"node-1"});
  ASSERT_TRUE(c.decide(StopJob{"stops", ""}).is_ok());
  EXPECT_THAT(c.decide(RequeueJob{"3", ""}).status().message(), HasSubstr("is being stopped"));
}

TEST(Requeue, IsForOwnersAndOperators) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  c.run(job("j"), {"node-1"});
  EXPECT_EQ(c.decide(RequeueJob{"1", ""}, "bob").status().code(), Code::permission_denied);
  EXPECT_TRUE(c.decide(RequeueJob{"1", ""}, "olga").is_ok());
}

}  // namespace
}  // namespace hai::test
