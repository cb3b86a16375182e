// Stop, suspend, resume, hold, release, priority: each for jobs that wait, run, leave and have
// ended; by strangers; and twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

std::vector<Command> all_verbs(const std::string& job) {
  return {StopJob{job, ""}, SuspendJob{job, ""}, ResumeJob{job},
          HoldJob{job, ""}, ReleaseJob{job},     SetJobPriority{job, Priority::high}};
}

TEST(Control, IsForOwnersAndOperators) {
  for (size_t verb = 0; verb < all_verbs("").size(); ++verb) {
    Cluster c = cluster(nodes(1, gpus(8)));
    c.add_user("bob").add_user("olga", {}, Role::operator_);
    c.submit(job("j"));
    EXPECT_EQ(c.decide(all_verbs("1")[verb], "bob").status().code(), Code::permission_denied);
    EXPECT_EQ(c.decide(all_verbs("7")[verb], "bob").status().code(), Code::not_found);
    EXPECT_EQ(c.decide(all_verbs("j")[verb], "bob").status().code(), Code::not_found);
    EXPECT_TRUE(c.decide(all_verbs("1")[verb], "olga").is_ok());
  }
}

TEST(Control, OfAJobThatHasEndedIsRefusedExceptStopping) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.finish(c.submit(job("j")), JobState::failed);
  for (const Command& verb : all_verbs("1")) {
    Result<CommandReply> reply = c.decide(verb);
    if (std::holds_alternative<StopJob>(verb)) {
      EXPECT_EQ(reply.value().message, "has failed already");
    } else {
      EXPECT_EQ(reply.status().code(), Code::failed_precondition);
      EXPECT_THAT(reply.status().message(), HasSubstr("has failed"));
    }
  }
  EXPECT_EQ(c.job(JobId{1}).state, JobState::failed);
}

TEST(Control, AskedTwiceChangesNothingMore) {
  for (size_t verb = 0; verb < all_verbs("").size(); ++verb) {
    for (bool runs : {false, true}) {
      Cluster c = cluster(nodes(1, gpus(8)));
      runs ? c.run(job("j"), {"node-1"}) : c.submit(job("j"));
      ASSERT_TRUE(c.decide(all_verbs("1")[verb]).is_ok());
      size_t before = c.events().size();
      EXPECT_TRUE(c.decide(all_verbs("1")[verb]).is_ok());
      EXPECT_EQ(c.events().size(), before) << "verb " << verb << " runs " << runs;
    }
  }
}

TEST(Stop, EndsAWaitingJobAtOnce) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("j"));
  EXPECT_EQ(c.decide(StopJob{"j", "wrong data"}).value().message, "stopped");
  EXPECT_EQ(c.job(JobId{1}).state, JobState::stopped);
  EXPECT_EQ(c.job(JobId{1}).end_reason, "stopped by ann: wrong data");
}

TEST(Stop, GivesBackNodesHeldForTheJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  JobId high = c.submit(job("high"));
  c.pass();
  ASSERT_TRUE(c.decide(StopJob{"high", ""}).is_ok());
  EXPECT_EQ(c.job(high).state, JobState::stopped);
  c.pass();
  EXPECT_EQ(c.attempt(low).state, AttemptState::running);
}

TEST(Stop, OfARunningJobEndsWhenItsRanksAreGone) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  EXPECT_EQ(c.decide(StopJob{"j", ""}).value().message, "stopping");
  EXPECT_EQ(c.job(id).state, JobState::running);
  EXPECT_EQ(c.attempt(id).end->outcome, AttemptState::stopped);
  EXPECT_TRUE(c.job(id).stop_requested);
}

TEST(Suspend, OfARunningJobHoldsItAndAsksItToLeave) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j").grace(90s), {"node-1"});
  EXPECT_EQ(c.decide(SuspendJob{"j", "night"}).value().message, "suspending; it has 1m30s to save");
  EXPECT_TRUE(c.job(id).held);
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
  EXPECT_EQ(c.attempt(id).suspend_deadline, c.now + 90s);
  EXPECT_EQ(c.attempt(id).suspend_reason, "suspended by ann: night");
  EXPECT_FALSE(c.attempt(id).suspended_for);
}

TEST(Suspend, OfAWaitingJobHoldsIt) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("j"));
  EXPECT_EQ(c.decide(SuspendJob{"j", ""}).value().message, "held; it does not run now");
  EXPECT_TRUE(c.job(JobId{1}).held);
}

TEST(Suspend, OfAnEndingAttemptOnlyHolds) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  c.emit(AttemptEnding{id, 1, {AttemptState::lost, 0, "test", true}});
  ASSERT_TRUE(c.decide(SuspendJob{"j", ""}).is_ok());
  EXPECT_EQ(c.attempt(id).state, AttemptState::running);
  EXPECT_TRUE(c.job(id).held);
}

TEST(Resume, ReleasesTheHold) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.submit(job("j"));
  for (const Command& verb : {Command{ResumeJob{"j"}}, Command{ReleaseJob{"j"}}}) {
    ASSERT_TRUE(c.decide(HoldJob{"j", "x"}).is_ok());
    ASSERT_TRUE(c.decide(verb).is_ok());
    EXPECT_FALSE(c.job(id).held);
    EXPECT_EQ(c.job(id).hold_reason, "");
  }
}

TEST(Hold, LetsARunningAttemptGoOn) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  EXPECT_EQ(c.decide(HoldJob{"j", ""}).value().message, "held; the running attempt goes on");
  EXPECT_EQ(c.attempt(id).state, AttemptState::running);
  EXPECT_EQ(c.job(id).hold_reason, "held by ann");
}

// Whatever was asked of it would not come about.
TEST(Control, OfAJobThatIsBeingStoppedIsRefused) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("j"), {"node-1"});
  ASSERT_TRUE(c.decide(StopJob{"j", ""}).is_ok());
  for (const Command& verb : {Command{HoldJob{"j", ""}}, Command{SuspendJob{"j", ""}},
                              Command{ResumeJob{"j"}}, Command{ReleaseJob{"j"}}}) {
    const Status status = c.decide(verb).status();
    EXPECT_EQ(status.message(), "job 1 is being stopped: it does not run again");
  }
  EXPECT_FALSE(c.job(JobId{1}).held);
}

TEST(Control, OfAJobThatLeavesSaysSo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("j"), {"node-1"});
  ASSERT_TRUE(c.decide(SuspendJob{"j", ""}).is_ok());
  EXPECT_EQ(c.decide(HoldJob{"j", ""}).value().message,
            "held; the attempt leaves, as it was asked to");
  EXPECT_EQ(c.decide(ResumeJob{"j"}).value().message,
            "leaves first, as it was asked to, then it is queued");
}

TEST(Hold, GivesBackNodesHeldForTheJob) {
  for (const Command& verb : {Command{HoldJob{"high", ""}}, Command{SuspendJob{"high", ""}}}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    c.run(job("low").priority(Priority::low), {"node-1"});
    JobId high = c.submit(job("high"));
    c.pass();
    ASSERT_TRUE(c.job(high).reservation.has_value());
    ASSERT_TRUE(c.decide(verb).is_ok());
    EXPECT_FALSE(c.job(high).reservation.has_value());
  }
}

TEST(SetPriority, MovesAWaitingJobInTheQueue) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.submit(job("a"));
  c.submit(job("b"));
  ASSERT_TRUE(c.decide(SetJobPriority{"b", Priority::high}).is_ok());
  EXPECT_EQ(c.plan().starts[0].job, JobId{2});
}

TEST(SetPriority, RefusesALevelAtWhichASubmitWouldBeRefused) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.clear_quotas().set_quota("ann", "training", Priority::high, 1);
  c.set_quota("ann", "training", Priority::low, 4);
  const JobId id = c.submit(job("j").nodes(2).priority(Priority::low));
  const Result<CommandReply> reply = c.decide(SetJobPriority{"j", Priority::high});
  EXPECT_EQ(reply.status().code(), Code::resource_exhausted);
  EXPECT_EQ(c.job(id).priority, Priority::low) << "nothing was changed";
  EXPECT_TRUE(c.decide(SetJobPriority{"j", Priority::low}).is_ok());
}

TEST(SetPriority, TakesAJobOfNobody) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(JobSubmitted{JobId{1}, "nobody", "", std::make_shared<JobSpec>(job("j").spec()), {}});
  ASSERT_EQ(c.state().find_user("nobody"), nullptr);
  EXPECT_TRUE(c.decide(SetJobPriority{"1", Priority::low}).is_ok());
}

TEST(SetPriority, DropsAReservationMadeAtTheOldLevel) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  JobId high = c.submit(job("high"));
  c.pass();
  ASSERT_TRUE(c.decide(SetJobPriority{"high", Priority::low}).is_ok());
  EXPECT_FALSE(c.job(high).reservation.has_value());
}

}  // namespace
}  // namespace hai::test
