// Jobs that wait for others: what meets a condition, what makes it impossible, and what a rerun
// mends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/dependency_fate.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using C = DependencyCondition;
using F = DependencyFate;

TEST(DependencyFate, FollowsTheTable) {
  struct Row {
    C condition;
    F succeeded, failed, stopped, running, queued;
  };
  const Row kRows[] = {{C::afterok, F::met, F::never, F::never, F::open, F::open},
                       {C::afternotok, F::never, F::met, F::met, F::open, F::open},
                       {C::afterany, F::met, F::met, F::met, F::open, F::open},
                       {C::singleton, F::met, F::met, F::met, F::open, F::open},
                       {C::aftercorr, F::met, F::met, F::met, F::open, F::open},
                       {C::after, F::met, F::met, F::met, F::met, F::open}};
  for (const Row& row : kRows) {
    const std::string_view word = to_string(row.condition);
    EXPECT_EQ(fate_of(row.condition, JobState::succeeded, true), row.succeeded) << word;
    EXPECT_EQ(fate_of(row.condition, JobState::failed, true), row.failed) << word;
    EXPECT_EQ(fate_of(row.condition, JobState::stopped, false), row.stopped) << word;
    EXPECT_EQ(fate_of(row.condition, JobState::running, true), row.running) << word;
    EXPECT_EQ(fate_of(row.condition, JobState::suspended, true), row.running) << word;
    EXPECT_EQ(fate_of(row.condition, JobState::queued, false), row.queued) << word;
  }
}

TEST(Dependencies, AfterIsMetByTheStartOrByAnEndWithout) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId a = c.submit(job("a"));
  const JobId b = c.submit(job("b"));
  const JobId last = c.submit(job("last").depends_on("after:a").depends_on("after:b"));
  c.place(a, c.on({"node-1"}));
  EXPECT_EQ(c.job(last).unmet_dependencies.size(), 2u) << "placed is not started";
  c.advance(5s);
  c.confirm(a);
  EXPECT_THAT(c.job(last).unmet_dependencies, ElementsAre(Dependency{b, C::after}));
  c.finish(b, JobState::stopped);
  EXPECT_THAT(c.job(last).unmet_dependencies, IsEmpty());
  EXPECT_EQ(c.job(last).waiting_since, c.now);
}

TEST(Dependencies, OfEachConditionEndAsTheySay) {
  for (const JobState end : {JobState::succeeded, JobState::failed, JobState::stopped}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    const JobId a = c.submit(job("a"));
    const JobId ok = c.submit(job("ok").depends_on("a"));
    const JobId any = c.submit(job("any").depends_on("afterany:a"));
    const JobId not_ok = c.submit(job("not").depends_on("afternotok:a"));
    c.finish(a, end);
    const bool has_succeeded = end == JobState::succeeded;
    EXPECT_EQ(c.job(ok).failed_dependency, has_succeeded ? JobId{} : a);
    EXPECT_EQ(c.job(ok).unmet_dependencies.empty(), has_succeeded);
    EXPECT_EQ(c.job(not_ok).failed_dependency, has_succeeded ? a : JobId{});
    EXPECT_EQ(c.job(not_ok).unmet_dependencies.empty(), !has_succeeded);
    EXPECT_THAT(c.job(any).unmet_dependencies, IsEmpty());
  }
}

TEST(Dependencies, ThatFailedAreMendedByARerunOfThatJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId a = c.submit(job("a"));
  const JobId b = c.submit(job("b"));
  const JobId last = c.submit(job("last").depends_on("a").depends_on("b"));
  c.finish(a, JobState::failed);
  c.finish(b, JobState::failed);
  EXPECT_EQ(c.job(last).failed_dependency, b);
  ASSERT_TRUE(c.decide(RerunJob{.old = std::make_shared<const Job>(c.job(b))}).is_ok());
  EXPECT_EQ(c.job(last).failed_dependency, a) << "the other one still failed";
  const JobId b2 = c.state().last_job();
  EXPECT_THAT(c.job(last).unmet_dependencies, ElementsAre(Dependency{a}, Dependency{b2}));
  ASSERT_TRUE(c.decide(RerunJob{.old = std::make_shared<const Job>(c.job(a))}).is_ok());
  EXPECT_FALSE(c.job(last).failed_dependency);
  c.finish(b2);
  c.finish(c.state().last_job());
  EXPECT_THAT(c.job(last).unmet_dependencies, IsEmpty());
  EXPECT_EQ(c.job(last).waiting_since, c.now);
}

TEST(Dependencies, StayWithAJobThatIsRunTwiceWhileTheFirstMayStillSucceed) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId a = c.run(job("a"), {"node-1"});
  const JobId last = c.submit(job("last").depends_on("a"));
  ASSERT_TRUE(c.decide(RerunJob{.old = std::make_shared<const Job>(c.job(a))}).is_ok());
  EXPECT_EQ(c.job(c.state().last_job()).spec->name, "a-2");
  EXPECT_THAT(c.job(last).unmet_dependencies, ElementsAre(Dependency{a}));
}

TEST(Dependencies, SingletonsOfOneNameEndOneAfterTheOther) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto submit = [&] {
    const auto reply = c.decide(SubmitJob{job("nightly").depends_on("singleton").spec(), ""});
    EXPECT_TRUE(reply.is_ok()) << reply.status().message();
    return reply.value().job;
  };
  const JobId first = submit();
  const JobId second = submit();
  const JobId third = submit();
  EXPECT_THAT(c.job(first).unmet_dependencies, IsEmpty());
  EXPECT_THAT(c.job(third).unmet_dependencies,
              ElementsAre(Dependency{first, C::singleton}, Dependency{second, C::singleton}));
  EXPECT_EQ(c.state().find_unfinished("ann", "nightly")->id, first);
  c.finish(second, JobState::stopped);
  c.finish(first, JobState::failed);
  EXPECT_THAT(c.job(third).unmet_dependencies, IsEmpty());
  EXPECT_EQ(c.state().find_unfinished("ann", "nightly")->id, third);
  c.finish(third);
  EXPECT_EQ(c.state().find_unfinished("ann", "nightly"), nullptr);
}

TEST(Editing, ChangesTheSpecAndNothingElse) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.submit(job("j").timeout(1h).begin_at(c.now + 1h));
  c.emit(JobEdited{.job = id,
                   .timeout = Duration(2h),
                   .tags = std::vector<std::string>{"a", "b"},
                   .node_count = 2});
  JobSpec expected = job("j").timeout(2h).begin_at(c.now + 1h).nodes(2).spec();
  expected.tags = {"a", "b"};
  EXPECT_EQ(*c.job(id).spec, expected);
  c.emit(JobEdited{.job = id, .begin_at = UnixTime{}});
  EXPECT_EQ(c.job(id).spec->begin_at, std::nullopt);
}

}  // namespace
}  // namespace hai::test
