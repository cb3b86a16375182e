// Single tasks of an array: those that somebody names before it is their turn, those that are held,
// and how many may be unfinished at once.

#include "server/control/attempt/attribution.h"
#include "tests/unit/control/array_cases.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string name(JobId array, int index) { return fmt::format("{}_{}", array.value, index); }

// The indices of those that are not held and have not ended.
std::vector<int> in_line(const Cluster& c, JobId array) {
  std::vector<int> indices;
  for (JobId id : c.state().unfinished_tasks(array)) {
    const Job& job = *c.state().find(id);
    if (!job.held) indices.push_back(job.array_task->index);
  }
  return indices;
}

// Nothing is changed by it.
std::string refusal(Cluster& c, const Command& command, const std::string& user = "ann") {
  const int64_t seq = c.state().last_seq();
  const auto reply = std::visit([&](const auto& each) { return c.decide(each, user); }, command);
  EXPECT_FALSE(reply.is_ok()) << reply.value().message;
  EXPECT_EQ(c.state().last_seq(), seq);
  return reply.is_ok() ? "" : std::string(reply.status().message());
}

TEST(ArrayLimit, HeldTasksLeaveTheirPlacesToOthers) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%2"));
  ASSERT_TRUE(c.decide(HoldJob{name(id, 0), ""}).is_ok());
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(1, 2));
  const auto release = c.decide(ReleaseJob{name(id, 0)});
  EXPECT_EQ(release.value().message,
            "over the limit of its array: it is released when another task has ended");
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(1, 2)) << "there is no room for it";
  EXPECT_EQ(c.plan().pending.at(task(c, id, 0).id).code, PendingCode::array);
  c.pass();
  EXPECT_FALSE(task(c, id, 0).has_live_attempt());
  c.finish(task(c, id, 2).id);
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(0, 1)) << "before one that is still to come";
}

TEST(ArrayLimit, OneThatIsHeldByItIsHeldByItsUserToo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%1"));
  ASSERT_TRUE(c.decide(HoldJob{name(id, 0), ""}).is_ok());
  tick(c);
  ASSERT_TRUE(c.decide(ReleaseJob{name(id, 0)}).is_ok());
  ASSERT_TRUE(task(c, id, 0).is_held_by_limit());
  ASSERT_TRUE(c.decide(HoldJob{name(id, 0), "a while"}).is_ok());
  EXPECT_EQ(task(c, id, 0).hold_reason, "held by ann: a while");
  c.finish(task(c, id, 1).id);
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(2));
}

TEST(ArrayLimit, OfAWholeArrayThatIsReleasedIsKept) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%2"));
  ASSERT_TRUE(c.decide(HoldJob{name(id, 0), ""}).is_ok());
  tick(c);
  ASSERT_TRUE(c.decide(HoldJob{std::to_string(id.value), ""}).is_ok());
  tick(c);
  EXPECT_THAT(in_line(c, id), IsEmpty());
  ASSERT_TRUE(c.decide(ReleaseJob{std::to_string(id.value)}).is_ok());
  EXPECT_THAT(in_line(c, id), ElementsAre(0, 1));
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(0, 1));
}

TEST(ArrayLimit, CanBeChangedWhileTasksRun) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%3"));
  c.pass();
  const std::string array = std::to_string(id.value);
  EXPECT_EQ(c.decide(EditJob{.job = array, .array_limit = 5}).value().message, "5 tasks at once");
  EXPECT_THAT(in_line(c, id), ElementsAre(0, 1, 2, 3, 4)) << "at once";
  EXPECT_EQ(c.job(id).spec->array, "0-9%5");
  ASSERT_TRUE(c.decide(EditJob{.job = array, .array_limit = 2}).is_ok());
  EXPECT_THAT(in_line(c, id), ElementsAre(0, 1, 2)) << "those that run go on";
  c.finish(task(c, id, 0).id);
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(1, 2));
  ASSERT_TRUE(c.decide(EditJob{.job = array, .array_limit = 0}).is_ok());
  EXPECT_EQ(c.job(id).spec->array, "0-9");
  EXPECT_THAT(in_line(c, id), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
  EXPECT_THAT(refusal(c, EditJob{.job = name(id, 1), .array_limit = 1}), HasSubstr("is no array"));
}

TEST(ArrayLimit, ThatWasLoweredHoldsOneThatIsInterrupted) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%2"));
  c.pass();
  ASSERT_TRUE(c.decide(EditJob{.job = std::to_string(id.value), .array_limit = 1}).is_ok());
  ASSERT_TRUE(c.decide(RequeueJob{name(id, 1), ""}).is_ok());
  FakeAgent(c, "node-1")
      .report({running({task(c, id, 0).id, 1, 0}),
               exited({task(c, id, 1).id, 1, 0}, ExitCause::go_suspend)});
  EXPECT_TRUE(task(c, id, 1).is_waiting());
  EXPECT_TRUE(task(c, id, 1).is_held_by_limit());
  EXPECT_TRUE(task(c, id, 0).has_live_attempt());
}

TEST(ArrayLimit, LeavesNoRoomForOneThatIsOpenedAgain) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%1"));
  c.finish(task(c, id, 0).id, JobState::failed);
  tick(c);
  c.pass();
  ASSERT_TRUE(task(c, id, 1).has_live_attempt());
  c.emit(JobReopened{task(c, id, 0).id, {}, "its node was to blame"});
  c.decide_with([&](Decision& decision) { advance_array(decision, id, 0); });
  EXPECT_TRUE(task(c, id, 0).is_held_by_limit());
  c.finish(task(c, id, 1).id);
  tick(c);
  EXPECT_THAT(in_line(c, id), ElementsAre(0));
}

// Else 400 held tasks would stop the array.
TEST(ArrayLimit, HeldTasksHoldUpNoOthers) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9999"));
  for (int i = 0; i < 5; ++i) tick(c);
  ASSERT_EQ(c.job(id).array.made, kTasksAhead);
  for (int i = 0; i < kTasksAhead; ++i) {
    ASSERT_TRUE(c.decide(HoldJob{name(id, i), ""}).is_ok());
  }
  tick(c);
  EXPECT_EQ(c.job(id).array.made, kTasksAhead + kTasksMadeAtOnce);
  EXPECT_THAT(c.plan().pending.at(id).text, HasSubstr("600 wait (400 held), 0 have ended"));
}

TEST(ArrayTasks, OneThatIsNamedIsMade) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9999"));
  ASSERT_TRUE(c.decide(HoldJob{name(id, 9'000), ""}).is_ok());
  EXPECT_TRUE(task(c, id, 9'000).held);
  EXPECT_EQ(c.job(id).array.made, kTasksAtSubmit + 1);
  EXPECT_EQ(c.job(id).array.next(), kTasksAtSubmit);
  ASSERT_TRUE(c.decide(StopJob{name(id, 17), ""}).is_ok());
  EXPECT_EQ(task(c, id, 17).state, JobState::stopped);
  ASSERT_TRUE(c.decide(SetJobPriority{name(id, 18), Priority::low}).is_ok());
  EXPECT_EQ(task(c, id, 18).priority, Priority::low);
  ASSERT_TRUE(c.decide(EditJob{.job = name(id, 19), .timeout = 2h}).is_ok());
  EXPECT_EQ(task(c, id, 19).spec->timeout, 2h);
  tick(c);
  EXPECT_EQ(task(c, id, 16).spec->timeout, Duration(0));
  EXPECT_EQ(task(c, id, 18).priority, Priority::low) << "it is not made again";
  EXPECT_GT(c.job(id).array.next(), 20);
}

// All of them would be stored with the job that names them.
TEST(ArrayTasks, OfLargeSpecsAreNotNamedByTheDozen) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto large = job("sweep").array("0-999").environment("LARGE", std::string(256 << 10, 'x'));
  const JobId id = submit(c, large);
  const auto after = [&](int count) {
    JobBuilder builder = job(fmt::format("after-{}", count));
    for (int i = 0; i < count; ++i) builder.depends_on("afterok:" + name(id, 500 + i));
    return c.decide(SubmitJob{builder.spec(), ""}).status();
  };
  const size_t before = c.events().size();
  EXPECT_EQ(after(20).code(), Code::invalid_argument);
  EXPECT_THAT(std::string(after(20).message()), HasSubstr("the 20 tasks that it names"));
  EXPECT_EQ(c.events().size(), before) << "nothing was changed";
  EXPECT_TRUE(after(10).is_ok());
  EXPECT_EQ(task(c, id, 509).state, JobState::queued);
}

// An edit writes the rows of all unfinished tasks anew, each with its whole spec.
TEST(ArrayTasks, OfLargeSpecsAreNotEditedAllAtOnce) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto large = job("sweep").array("0-999").environment("LARGE", std::string(256 << 10, 'x'));
  const JobId id = submit(c, large);
  const std::string array = std::to_string(id.value);
  ASSERT_TRUE(c.decide(EditJob{.job = array, .timeout = 2h}).is_ok());
  for (int i = 0; i < 6; ++i) tick(c);
  const size_t before = c.events().size();
  const Status refused = c.decide(EditJob{.job = array, .timeout = 3h}).status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("edit them one by one"));
  EXPECT_EQ(c.events().size(), before) << "nothing was changed";
  EXPECT_TRUE(c.decide(EditJob{.job = array, .array_limit = 500}).is_ok()) << "of the array alone";
  int64_t bytes = 0;
  c.decide_with([&](Decision& decision) {
    const EditJob one{.job = name(id, 3), .timeout = 3h};
    EXPECT_TRUE(decide(decision, one, Actor{.user = "ann"}).is_ok());
    bytes = decision.text_bytes();
  });
  EXPECT_GT(bytes, 256 << 10) << "a turn of many such ends";
}

TEST(ArrayTasks, ThoseMadeEarlyAreCountedOnce) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-8:2%1"));
  ASSERT_TRUE(c.decide(StopJob{name(id, 6), ""}).is_ok());
  ASSERT_TRUE(c.decide(HoldJob{name(id, 2), ""}).is_ok());
  for (int index : {0, 4, 8}) {
    tick(c);
    c.finish(task(c, id, index).id);
  }
  tick(c);
  EXPECT_FALSE(c.job(id).is_terminal());
  ASSERT_TRUE(c.decide(ReleaseJob{name(id, 2)}).is_ok());
  c.finish(task(c, id, 2).id);
  tick(c);
  EXPECT_EQ(c.job(id).end_reason, "4 of 5 tasks succeeded, 1 stopped");
}

TEST(ArrayTasks, OneMadeEarlyWaitsForWhatItsArrayWaitsFor) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = c.submit(job("first"));
  const JobId late = submit(c, job("late").array("0-9").depends_on("first").begin_at(c.now + 1h));
  ASSERT_TRUE(c.decide(SetJobPriority{name(late, 5), Priority::high}).is_ok());
  EXPECT_THAT(task(c, late, 5).unmet_dependencies,
              ElementsAre(Dependency{first, DependencyCondition::afterok}));
  EXPECT_EQ(task(c, late, 5).spec->begin_at, c.now + 1h);
  const JobId held = submit(c, job("held").array("0-9%1"));
  ASSERT_TRUE(c.decide(HoldJob{std::to_string(held.value), ""}).is_ok());
  ASSERT_TRUE(c.decide(SetJobPriority{name(held, 5), Priority::high}).is_ok());
  EXPECT_EQ(task(c, held, 5).hold_reason, "held by ann");
  const JobId full = submit(c, job("full").array("0-9%1"));
  ASSERT_TRUE(c.decide(SetJobPriority{name(full, 5), Priority::high}).is_ok());
  EXPECT_TRUE(task(c, full, 5).is_held_by_limit());
}

TEST(ArrayTasks, WhatCannotBeMadeIsRefused) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const JobId id = submit(c, job("sweep").gpus(1).array("0-9%1"));
  EXPECT_THAT(refusal(c, StopJob{name(id, 10), ""}), HasSubstr("its tasks are 0-9"));
  EXPECT_THAT(refusal(c, StopJob{name(id, 5), ""}, "bob"), HasSubstr("belongs to ann"));
  EXPECT_THAT(refusal(c, SuspendJob{name(id, 5), ""}), HasSubstr("is not made yet"));
  EXPECT_THAT(refusal(c, StopJob{"77_5", ""}), HasSubstr("array 77 does not exist"));
  EXPECT_THAT(refusal(c, EditJob{.job = name(id, 5), .node_count = 7}), HasSubstr("7 asked"));
  c.finish(task(c, id, 0).id);
  c.forget_finished();
  EXPECT_THAT(refusal(c, HoldJob{name(id, 0), ""}), HasSubstr("task 0 of array 1 has ended"));
  c.knobs.max_unfinished_jobs_per_user = 1;
  EXPECT_THAT(refusal(c, HoldJob{name(id, 5), ""}), HasSubstr("as many as allowed"));
  EXPECT_TRUE(c.decide(StopJob{name(id, 6), ""}).is_ok()) << "that leaves no more of them";
  tick(c);
  ASSERT_TRUE(c.decide(StopJob{std::to_string(id.value), ""}).is_ok());
  EXPECT_THAT(refusal(c, HoldJob{name(id, 5), ""}), HasSubstr("was never made"));
}

TEST(ArrayTasks, AJobWaitsForOneThatIsStillToCome) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const JobId id = submit(c, job("sweep").gpus(1).array("0-999"));
  const JobId next = submit(c, job("next").depends_on("afterany:" + name(id, 900)));
  EXPECT_THAT(c.job(next).unmet_dependencies,
              ElementsAre(Dependency{task(c, id, 900).id, DependencyCondition::afterany}));
  const auto refused = [&](const std::string& dependency, const std::string& user = "ann") {
    return refusal(c, SubmitJob{job("x").depends_on(dependency).spec(), ""}, user);
  };
  EXPECT_THAT(refused(name(id, 901), "bob"), HasSubstr("belongs to ann"));
  EXPECT_THAT(refused(name(id, 1'000)), HasSubstr("array 1 has no task 1000"));
  EXPECT_THAT(refusal(c, SubmitJob{job("x").nodes(9).depends_on(name(id, 902)).spec(), ""}),
              HasSubstr("9 asked"))
      << "and no task is made for it";
}

// Its end is certain, so that no job can wait for its success.
TEST(ArrayTasks, NoJobWaitsForOneThatWaitsInVain) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").array("0-4"));
  const JobId second = submit(c, job("second").array("0-4%1").depends_on("aftercorr:first"));
  c.finish(task(c, first, 3).id, JobState::failed);
  for (const char* condition : {"afterok", "afterany", "afternotok"}) {
    const std::string word = fmt::format("{}:{}", condition, name(second, 3));
    EXPECT_THAT(refusal(c, SubmitJob{job("x").depends_on(word).spec(), ""}),
                HasSubstr("waits in vain"));
  }
  EXPECT_THAT(refusal(c, HoldJob{name(second, 3), ""}), HasSubstr("run that one again"));
}

TEST(ArrayTasks, AJobMakesNoMoreOfThemThanItsUserMayHave) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("0-99%1"));
  c.knobs.max_unfinished_jobs_per_user = 4;  // the array, its first task, and two more
  JobBuilder waits = job("x");
  waits.depends_on("afterany:" + name(id, 50));
  waits.depends_on("afterany:" + name(id, 51));
  EXPECT_THAT(refusal(c, SubmitJob{waits.spec(), ""}), HasSubstr("as many as allowed"));
  c.knobs.max_unfinished_jobs_per_user = 5;
  EXPECT_TRUE(c.decide(SubmitJob{waits.spec(), ""}).is_ok());
}

// After a restart of the server ended jobs are no more in memory.
TEST(ArrayTasks, AJobWaitsForOneThatEndedLongAgo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(1).array("3-4"));
  const JobId third = task(c, id, 3).id;
  c.finish(third, JobState::failed);
  c.forget_finished();
  const EndedJob ended{third, "ann", "sweep", JobState::failed, ArrayTask{id, 3}};
  const auto depends = [&](const std::string& word) {
    return c.decide(SubmitJob{job("next").depends_on(word).spec(), "", {ended}});
  };
  EXPECT_THAT(depends("afterok:" + name(id, 3)).status().message(), HasSubstr("has failed"));
  const auto after = depends("afternotok:" + name(id, 3));
  ASSERT_TRUE(after.is_ok()) << after.status().message();
  EXPECT_THAT(c.job(after.value().job).unmet_dependencies, IsEmpty());
}

TEST(ArrayTasks, OneMadeEarlyIsNotLostForItsCounterpart) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").array("0-4%1"));
  const JobId second = submit(c, job("second").array("0-4").depends_on("aftercorr:first"));
  EXPECT_THAT(refusal(c, HoldJob{name(second, 3), ""}), HasSubstr("name that one first"));
  ASSERT_TRUE(c.decide(HoldJob{name(first, 3), ""}).is_ok());
  ASSERT_TRUE(c.decide(SetJobPriority{name(second, 3), Priority::low}).is_ok());
  EXPECT_THAT(task(c, second, 3).unmet_dependencies,
              ElementsAre(Dependency{task(c, first, 3).id, DependencyCondition::afterok}));
  c.finish(task(c, first, 3).id);
  ASSERT_TRUE(c.decide(StopJob{std::to_string(first.value), ""}).is_ok());
  tick(c);
  ASSERT_TRUE(c.job(first).is_terminal());
  tick(c);
  EXPECT_FALSE(task(c, second, 3).is_terminal()) << "its counterpart has succeeded";
  EXPECT_EQ(task(c, second, 4).state, JobState::stopped) << "and that one's was never made";
}

// As a job does, unlike one that waits for its counterpart alone.
TEST(ArrayTasks, OneMadeEarlyWaitsForARerunOfWhatItsArrayWaitsFor) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId other = c.submit(job("other"));
  const JobId first = submit(c, job("first").array("0-9"));
  const JobId second = submit(
      c, job("second").array("0-9").depends_on("aftercorr:first").depends_on("afterok:other"));
  ASSERT_TRUE(c.decide(HoldJob{name(second, 8), ""}).is_ok());
  ASSERT_TRUE(c.decide(HoldJob{name(second, 9), ""}).is_ok());
  c.finish(other, JobState::failed);
  tick(c);
  c.advance(c.knobs.attribution_after + 1s);
  tick(c);
  EXPECT_FALSE(task(c, second, 9).is_terminal());
  const auto rerun = c.decide(RerunJob{.old = std::make_shared<const Job>(c.job(other))});
  ASSERT_TRUE(rerun.is_ok()) << rerun.status().message();
  c.finish(task(c, first, 8).id, JobState::failed);
  c.finish(task(c, first, 9).id);
  tick(c);
  EXPECT_EQ(task(c, second, 8).state, JobState::stopped) << "its counterpart has failed";
  EXPECT_THAT(task(c, second, 9).unmet_dependencies,
              ElementsAre(Dependency{rerun.value().job, DependencyCondition::afterok}));
  c.finish(rerun.value().job);
  EXPECT_THAT(task(c, second, 9).unmet_dependencies, IsEmpty());
}

TEST(ArrayTasks, ACounterpartThatIsOpenedAgainIsWaitedFor) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId first = submit(c, job("first").gpus(1).array("0-3"));
  const JobId second = submit(c, job("second").gpus(1).array("0-3").depends_on("aftercorr:first"));
  const auto fail = [&](int index) {
    const JobId id = task(c, first, index).id;
    c.place(id, c.on({"node-1"}, GpuSet::first(1)));
    c.confirm(id);
    FakeAgent(c, "node-1").report({exited({id, 1, 0}, ExitCause::program, 1)});
    ASSERT_EQ(task(c, first, index).state, JobState::failed);
    tick(c);
  };
  fail(0);
  const JobId late = submit(c, job("late").gpus(1).array("0-3").depends_on("aftercorr:first"));
  c.advance(c.knobs.attribution_after);
  tick(c);
  c.decide_with([&](Decision& decision) {
    const CheckResult fault{
        .name = "gpu_xid", .verdict = CheckVerdict::fail, .tier = HealthTier::evict};
    reopen_recent_failures(decision, c.node("node-1"), fault);
  });
  ASSERT_FALSE(task(c, first, 0).is_terminal());
  tick(c);
  c.finish(task(c, first, 0).id);
  tick(c);
  for (JobId array : {second, late}) {
    EXPECT_EQ(task(c, array, 0).state, JobState::queued);
    EXPECT_THAT(task(c, array, 0).unmet_dependencies, IsEmpty());
  }
  fail(1);
  c.advance(c.knobs.attribution_after + 1s);
  tick(c);
  for (JobId array : {second, late}) {
    EXPECT_EQ(task(c, array, 1).state, JobState::stopped) << "none can open it again now";
  }
  fail(2);
  c.forget_finished();
  tick(c);
  EXPECT_EQ(c.job(second).array.stopped, 2) << "nor one that has left memory";
  fail(3);
  tick(c);
  EXPECT_TRUE(c.job(first).is_terminal());
  EXPECT_EQ(task(c, late, 3).state, JobState::stopped) << "nor one of an array that has ended";
}

TEST(ArrayEdit, IsForAllItsTasks) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = submit(c, job("sweep").gpus(8).array("0-9%3"));
  c.pass();
  ASSERT_TRUE(task(c, id, 0).has_live_attempt());
  const auto edit = c.decide(EditJob{.job = std::to_string(id.value),
                                     .timeout = 2h,
                                     .tags = std::vector<std::string>{"lr"},
                                     .node_count = 2,
                                     .priority = Priority::low});
  ASSERT_TRUE(edit.is_ok()) << edit.status().message();
  EXPECT_EQ(
      edit.value().message,
      "time limit 2h, 2 nodes, priority low, its tags; of tasks that run only time limit and tags");
  EXPECT_EQ(task(c, id, 0).spec->timeout, 2h);
  EXPECT_EQ(task(c, id, 0).spec->node_count, 1);
  EXPECT_EQ(task(c, id, 2).spec->timeout, 2h);
  EXPECT_EQ(task(c, id, 2).spec->node_count, 2);
  c.finish(task(c, id, 0).id);
  tick(c);
  EXPECT_EQ(task(c, id, 3).spec->node_count, 2);
  EXPECT_EQ(task(c, id, 3).priority, Priority::low);
  EXPECT_THAT(task(c, id, 3).spec->tags, ElementsAre("lr"));
  EXPECT_EQ(task(c, id, 3).spec->array, "");
}

}  // namespace
}  // namespace hai::test
