// Arrays: tasks are made ahead of those that start, verbs mean all of them, and the array ends with
// its last task.

#include "server/control/attempt/array_flow.h"

#include "tests/unit/control/array_cases.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Array, IsOneRecordUntilItsTasksAreMade) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-99999"));
  EXPECT_EQ(c.job(id).array.made, kTasksAtSubmit);
  EXPECT_EQ(c.state().jobs().size(), 1u + kTasksAtSubmit);
  for (int i = 0; i < 5; ++i) tick(c);
  EXPECT_EQ(c.job(id).array.made, kTasksAhead) << "no more than wait";
  c.pass();
  tick(c);
  EXPECT_EQ(c.job(id).array.made, kTasksAhead + 8);
  EXPECT_EQ(task(c, id, 3).spec->name, "sweep");
  EXPECT_TRUE(task(c, id, 3).spec->array.empty());
  EXPECT_EQ(c.plan().pending.at(id).text,
            "runs 8 of its 100000 tasks; 400 wait, 0 have ended, 99592 are still to come");
}

JobSpec large_array(const std::string& name, size_t bytes) {
  // Of characters that are six each in JSON.
  return job(name).array("0-999").environment("LARGE", std::string(bytes / 6, '\x01')).spec();
}

int64_t texts_of_a_tick(Cluster& c) {
  int64_t bytes = 0;
  c.decide_with([&](Decision& decision) {
    decide_arrays(decision);
    bytes = decision.text_bytes();
  });
  return bytes;
}

// Each task has its whole spec: a few arrays made more in a second than PostgreSQL takes at once.
TEST(Array, OfLargeSpecsMakesInATickWhatAnAppendTakes) {
  Cluster c = cluster(nodes(1, gpus(8)));
  std::vector<JobId> arrays;
  for (const std::string name : {"a", "b", "c"}) {
    arrays.push_back(c.decide(SubmitJob{large_array(name, 256 << 10), ""}).value().job);
  }
  for (int i = 0; i < 3; ++i) {
    const int64_t bytes = texts_of_a_tick(c);
    EXPECT_GT(bytes, kTaskTextBytes / 2);
    EXPECT_LE(bytes, kTaskTextBytes + (1 << 20));
  }
  for (JobId id : arrays) EXPECT_GE(c.job(id).array.made, 3 + 3 * 5);
}

// Where one task of each is more than that, each has its turn.
TEST(Array, OfManyLargeSpecsAllComeForward) {
  Cluster c = cluster(nodes(1, gpus(8)));
  std::vector<JobId> arrays;
  for (int i = 0; i < 40; ++i) {
    const JobSpec spec = large_array(fmt::format("a{}", i), 250 << 10);
    arrays.push_back(c.decide(SubmitJob{spec, ""}).value().job);
  }
  for (int i = 0; i < 30; ++i) EXPECT_LE(texts_of_a_tick(c), kTaskTextBytes + (1 << 20));
  for (JobId id : arrays) EXPECT_GT(c.job(id).array.made, 5) << "4 with the submit";
}

TEST(Array, EndsWithItsLastTask) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("1-3"));
  const JobId after = c.decide(SubmitJob{job("after").depends_on("sweep").spec(), ""}).value().job;
  c.finish(task(c, id, 1).id);
  c.finish(task(c, id, 3).id);
  tick(c);
  EXPECT_FALSE(c.job(id).is_terminal());
  c.finish(task(c, id, 2).id);
  tick(c);
  EXPECT_EQ(c.job(id).state, JobState::succeeded);
  EXPECT_EQ(c.job(id).end_reason, "3 of 3 tasks succeeded");
  EXPECT_TRUE(c.job(after).unmet_dependencies.empty());
}

TEST(Array, HasFailedIfATaskHas) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").array("1-3"));
  c.finish(task(c, id, 1).id, JobState::failed);
  c.finish(task(c, id, 2).id, JobState::stopped);
  c.finish(task(c, id, 3).id);
  tick(c);
  EXPECT_EQ(c.job(id).state, JobState::failed);
  EXPECT_EQ(c.job(id).exit_code, 1);
  EXPECT_EQ(c.job(id).end_reason, "1 of 3 tasks succeeded, 1 failed, 1 stopped");
}

TEST(Array, KeepsItsLimit) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%2"));
  EXPECT_EQ(c.job(id).array.made, 2);
  tick(c);
  EXPECT_EQ(c.job(id).array.made, 2);
  c.finish(task(c, id, 0).id);
  tick(c);
  EXPECT_EQ(c.job(id).array.made, 3);
  EXPECT_EQ(c.job(id).array.unfinished, 2);
}

TEST(Array, WaitsItselfForWhatItWaitsFor) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = c.submit(job("first"));
  const JobId id = submit(c, job("sweep").array("0-9").depends_on("first"));
  const JobId held = submit(c, job("held").array("0-9").begin_at(c.now + 1h));
  tick(c);
  EXPECT_EQ(c.job(id).array.made, 0);
  EXPECT_EQ(c.job(held).array.made, 0);
  c.finish(first);
  c.advance(2h);
  tick(c);
  EXPECT_EQ(c.job(id).array.made, 10);
  EXPECT_EQ(c.job(held).array.made, 10);
  EXPECT_TRUE(task(c, id, 0).unmet_dependencies.empty());
}

TEST(Array, NeverRunsItself) {
  Cluster c = cluster(nodes(4, gpus(8)));
  const JobId id = submit(c, job("sweep").array("0-1"));
  const Plan plan = c.pass();
  EXPECT_EQ(plan.starts.size(), 2u);
  EXPECT_FALSE(c.job(id).has_live_attempt());
  EXPECT_EQ(c.plan().pending.at(id).code, PendingCode::array);
}

TEST(Array, ItsVerbsAreForAllItsTasks) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").array("0-3"));
  c.pass();
  ASSERT_TRUE(task(c, id, 0).has_live_attempt());
  ASSERT_TRUE(c.decide(SetJobPriority{"sweep", Priority::low}).is_ok());
  EXPECT_EQ(task(c, id, 3).priority, Priority::low);
  ASSERT_TRUE(c.decide(HoldJob{"sweep", ""}).is_ok());
  EXPECT_TRUE(task(c, id, 2).held);
  EXPECT_TRUE(c.job(id).held);
  ASSERT_TRUE(c.decide(ReleaseJob{"sweep"}).is_ok());
  EXPECT_FALSE(task(c, id, 2).held);
  ASSERT_TRUE(c.decide(SuspendJob{"sweep", ""}).is_ok());
  EXPECT_EQ(task(c, id, 0).attempt->state, AttemptState::suspending);
  const auto stop = c.decide(StopJob{"sweep", ""});
  ASSERT_TRUE(stop.is_ok());
  EXPECT_EQ(stop.value().message, "stopping; its tasks end first");
  EXPECT_EQ(task(c, id, 3).state, JobState::stopped);
  tick(c);
  EXPECT_FALSE(c.job(id).is_terminal()) << "task 0 still runs";
  c.leave(task(c, id, 0).id, AttemptState::stopped);
  c.finish(task(c, id, 0).id, JobState::stopped);
  tick(c);
  EXPECT_EQ(c.job(id).state, JobState::stopped);
  EXPECT_EQ(c.job(id).end_reason, "0 of 4 tasks succeeded, 4 stopped");
}

TEST(Array, StoppedBeforeItsLastTaskIsMadeMakesNoMore) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").array("0-9999"));
  ASSERT_TRUE(c.decide(StopJob{"sweep", ""}).is_ok());
  EXPECT_EQ(c.job(id).state, JobState::stopped);
  const size_t jobs = c.state().jobs().size();
  tick(c);
  EXPECT_EQ(c.state().jobs().size(), jobs);
}

TEST(Array, ATaskIsNamedByItsArrayAndNumber) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const JobId id = submit(c, job("sweep").array("5-7"));
  const std::string name = fmt::format("{}_6", id.value);
  ASSERT_TRUE(c.decide(StopJob{name, ""}).is_ok());
  EXPECT_EQ(task(c, id, 6).state, JobState::stopped);
  EXPECT_EQ(c.decide(StopJob{name, ""}, "bob").status().code(), Code::permission_denied);
  EXPECT_THAT(c.decide(StopJob{fmt::format("{}_8", id.value), ""}).status().message(),
              HasSubstr("no task 8: its tasks are 5-7"));
  const auto next = c.decide(
      SubmitJob{job("next").depends_on(fmt::format("afterany:{}_7", id.value)).spec(), ""});
  ASSERT_TRUE(next.is_ok()) << next.status().message();
  EXPECT_EQ(c.job(next.value().job).unmet_dependencies[0].job, task(c, id, 7).id);
  const JobId odd = c.submit(job("99_1"));
  EXPECT_EQ(c.decide(StopJob{"99_1", ""}).value().job, odd) << "a job may be called so";
}

TEST(Array, ATaskThatIsRunAgainKeepsItsNumber) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").array("5-7"));
  const Job failed = task(c, id, 6);
  c.finish(failed.id, JobState::failed);
  const auto reply = c.decide(
      RerunJob{.old = std::make_shared<const Job>(c.job(failed.id)), .name = "", .request_id = ""});
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_EQ(c.job(reply.value().job).spec->array, "6");
  EXPECT_EQ(task(c, reply.value().job, 6).state, JobState::queued);
}

TEST(Array, ANodesFaultOpensATaskAgainWhileItsArrayIsUnfinished) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").array("0-1"));
  const JobId first = task(c, id, 0).id;
  c.finish(first, JobState::failed);
  EXPECT_EQ(c.job(id).array.failed, 1);
  c.emit(JobReopened{first, {}, "its node was to blame"});
  EXPECT_EQ(c.job(id).array.failed, 0);
  EXPECT_EQ(c.job(id).array.unfinished, 2);
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(Array, InPairsEachTaskWaitsForItsCounterpart) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").gpus(1).array("0-9%3"));
  const JobId second = submit(c, job("second").gpus(1).array("1-3").depends_on("aftercorr:first"));
  EXPECT_EQ(c.job(second).array.made, 2) << "task 3 of the first is not made yet";
  EXPECT_THAT(task(c, second, 1).unmet_dependencies,
              ElementsAre(Dependency{task(c, first, 1).id, DependencyCondition::afterok}));
  EXPECT_EQ(c.plan().pending.at(second).text,
            "runs 0 of its 3 tasks; 2 wait, 0 have ended, 1 are still to come; each waits for the "
            "same task of array 1");
  c.finish(task(c, first, 1).id);
  EXPECT_THAT(task(c, second, 1).unmet_dependencies, IsEmpty());
  EXPECT_THAT(task(c, second, 2).unmet_dependencies, SizeIs(1));
  tick(c);
  EXPECT_EQ(c.job(second).array.made, 3);
}

TEST(Array, ATaskWhoseCounterpartFailedIsStopped) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").array("0-3"));
  c.finish(task(c, first, 0).id, JobState::failed);
  const JobId second = submit(c, job("second").array("0-3").depends_on("aftercorr:first"));
  c.finish(task(c, first, 1).id, JobState::stopped);
  tick(c);
  for (int failed : {0, 1}) {
    EXPECT_EQ(task(c, second, failed).state, JobState::stopped) << failed;
    EXPECT_EQ(task(c, second, failed).end_reason,
              "task " + std::to_string(failed) +
                  " of the array that it waits for did not succeed (aftercorr); run that one "
                  "again, then this one");
  }
  c.finish(task(c, first, 2).id);
  c.finish(task(c, first, 3).id);
  tick(c);
  EXPECT_TRUE(c.job(first).is_terminal());
  EXPECT_FALSE(c.job(second).is_terminal());
  for (int good : {2, 3}) {
    EXPECT_THAT(task(c, second, good).unmet_dependencies, IsEmpty()) << good;
    c.finish(task(c, second, good).id);
  }
  tick(c);
  EXPECT_EQ(c.job(second).end_reason, "2 of 4 tasks succeeded, 2 stopped");
}

// The first array ends while most of the second is still to come: what became of its tasks is
// known all the same, also of those that were never made.
TEST(Array, RemembersThePairsOfAnArrayThatHasEnded) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").array("0-9%2"));
  const JobId second = submit(c, job("second").array("0-9%1").depends_on("aftercorr:first"));
  c.finish(task(c, first, 0).id);
  c.finish(task(c, first, 1).id, JobState::failed);
  tick(c);
  c.finish(task(c, first, 2).id);
  EXPECT_TRUE(c.decide(StopJob{std::to_string(first.value)}).is_ok());
  tick(c);
  ASSERT_TRUE(c.job(first).is_terminal());
  c.forget_finished();
  for (int i = 0; i < 20 && !c.job(second).is_terminal(); ++i) {
    for (int good : {0, 2}) {
      const Job* made = c.state().find_task({second, good});
      if (made != nullptr && !made->is_terminal()) c.finish(made->id);
    }
    tick(c);
  }
  EXPECT_EQ(c.job(second).end_reason, "2 of 10 tasks succeeded, 8 stopped");
}

TEST(Array, APairIsJudgedAtTheSubmit) {
  Cluster c = cluster(nodes(1, gpus(8)));
  submit(c, job("first").array("0-3"));
  submit(c, job("plain"));
  const auto refusal = [&](const JobBuilder& builder) {
    const Status status = c.decide(SubmitJob{builder.spec(), ""}).status();
    EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
    return std::string(status.message());
  };
  EXPECT_THAT(refusal(job("x").depends_on("aftercorr:first")), HasSubstr("and this is none"));
  EXPECT_THAT(refusal(job("x").array("0-3").depends_on("aftercorr:plain")),
              HasSubstr("job 6 is no array"));
  EXPECT_THAT(refusal(job("x").array("0-4").depends_on("aftercorr:first")),
              HasSubstr("array 1 has no task 4"));
  const JobId second = submit(c, job("x").array("3").depends_on("aftercorr:first"));
  const auto rerun = c.decide(
      RerunJob{.old = std::make_shared<const Job>(c.job(second)), .name = "", .request_id = ""});
  ASSERT_TRUE(rerun.is_ok()) << rerun.status().message();
  EXPECT_EQ(c.job(rerun.value().job).spec->depends_on, std::vector<std::string>{"aftercorr:1"});
}

TEST(Array, UserMayHaveNoMoreJobsThanAllowed) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_unfinished_jobs_per_user = 5;
  const JobId id = submit(c, job("sweep").array("0-99"));
  EXPECT_EQ(c.job(id).array.made, 4) << "and the array itself";
  tick(c);
  EXPECT_EQ(c.job(id).array.made, 4);
}

}  // namespace
}  // namespace hai::test
