// hai edit and hai rerun.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RerunJob rerun(const Cluster& c, JobId id, const std::string& name = "") {
  return {.old = std::make_shared<const Job>(c.job(id)), .name = name, .request_id = ""};
}

TEST(Edit, TimeLimitAndTagsAtAnyTime) {
  for (const bool runs : {false, true}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    const JobId id = runs ? c.run(job("j"), {"node-1"}) : c.submit(job("j"));
    const auto reply = c.decide(
        EditJob{.job = "j", .timeout = Duration(2h), .tags = std::vector<std::string>{"x"}});
    ASSERT_TRUE(reply.is_ok()) << reply.status().message();
    EXPECT_EQ(reply.value().message, "time limit 2h, its tags");
    EXPECT_EQ(c.job(id).spec->timeout, Duration(2h));
    EXPECT_THAT(c.job(id).spec->tags, ElementsAre("x"));
    EXPECT_EQ(c.job(id).spec->name, "j");
  }
}

TEST(Edit, NodesPriorityAndBeginOnlyWhileItWaits) {
  const EditJob kEdits[] = {{.job = "j", .node_count = 2},
                            {.job = "j", .priority = Priority::high},
                            {.job = "j", .begin_at = UnixTime{}}};
  for (const EditJob& edit : kEdits) {
    Cluster waiting = cluster(nodes(2, gpus(8)));
    const JobId id = waiting.submit(job("j").begin_at(waiting.now + 1h));
    ASSERT_TRUE(waiting.decide(edit).is_ok());
    const Job& edited = waiting.job(id);
    EXPECT_EQ(edited.spec->node_count, edit.node_count.value_or(1));
    EXPECT_EQ(edited.priority, edit.priority.value_or(job("j").spec().priority));
    EXPECT_EQ(edited.spec->begin_at.has_value(), !edit.begin_at.has_value());
    Cluster running = cluster(nodes(2, gpus(8)));
    running.run(job("j"), {"node-1"});
    const size_t before = running.events().size();
    EXPECT_THAT(running.decide(edit).status().message(),
                HasSubstr("can change only while it waits; `hai requeue 1` makes it wait"));
    EXPECT_EQ(running.events().size(), before);
  }
}

TEST(Edit, GivesHeldNodesBackAndThePlannerFollows) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  const JobId id = c.submit(job("j").nodes(2).priority(Priority::high));
  c.emit(NodesReserved{id, {c.on({"node-1", "node-2"}), Priority::high, {low}, c.now}});
  ASSERT_TRUE(c.decide(EditJob{.job = "j", .node_count = 1}).is_ok());
  EXPECT_FALSE(c.job(id).reservation.has_value());
  c.pass();
  ASSERT_TRUE(c.job(id).has_live_attempt()) << "it fits beside the other now";
  EXPECT_EQ(c.attempt(id).ranks.size(), 1u);
}

TEST(Edit, IsRefusedWithTheReason) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.add_user("bob");
  c.submit(job("j"));
  c.finish(c.submit(job("done")));
  const auto error = [&](const EditJob& edit, const std::string& user = "ann") {
    return std::string(c.decide(edit, user).status().message());
  };
  EXPECT_THAT(error({.job = "j"}), HasSubstr("say what is to change"));
  EXPECT_THAT(error({.job = "2", .timeout = Duration(1h)}),
              HasSubstr("`hai rerun 2` runs it again"));
  EXPECT_THAT(error({.job = "1", .timeout = Duration(1h)}, "bob"), HasSubstr("belongs to ann"));
  EXPECT_THAT(error({.job = "j", .node_count = 3}), HasSubstr("3 asked, but training has 2 nodes"));
  c.clear_quotas();
  c.set_quota("ann", "training", Priority::low, 1);
  EXPECT_THAT(error({.job = "j", .node_count = 2}), HasSubstr("quota of ann"));
}

TEST(Rerun, OfAJobInAnyState) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j").timeout(1h).priority(Priority::low), {"node-1"});
  ASSERT_TRUE(c.decide(EditJob{.job = "j", .timeout = Duration(2h)}).is_ok());
  const auto second = c.decide(rerun(c, id));
  ASSERT_TRUE(second.is_ok()) << second.status().message();
  EXPECT_EQ(second.value().name, "j-2") << "its name is taken";
  EXPECT_EQ(second.value().message, "queued, as job 1 was");
  EXPECT_EQ(c.job(second.value().job).spec->timeout, Duration(2h)) << "as it is now";
  EXPECT_EQ(c.decide(rerun(c, id)).value().name, "j-3");
  EXPECT_EQ(c.decide(rerun(c, id, "other")).value().name, "other");
  EXPECT_EQ(c.decide(rerun(c, id, "other")).status().code(), Code::already_exists);
  c.leave(id);
  c.finish(id, JobState::stopped);
  EXPECT_EQ(c.decide(rerun(c, id)).value().name, "j");
}

TEST(Rerun, OfAJobThatHasLeftMemory) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("j"));
  const RerunJob command = rerun(c, id);
  c.finish(id, JobState::failed);
  const_cast<ClusterState&>(c.state()).evict_finished(0);
  ASSERT_TRUE(c.decide(command).is_ok());
  EXPECT_EQ(*c.job(JobId{2}).spec, job("j").spec());
}

TEST(Rerun, WaitsForWhatTheOldOneStillWaitedFor) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId met = c.submit(job("met"));
  const JobId open = c.submit(job("open"));
  const JobId id = c.submit(job("j").depends_on("met").depends_on("afterany:open"));
  c.finish(met);
  c.finish(id, JobState::stopped);
  const auto reply = c.decide(rerun(c, id));
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_THAT(c.job(reply.value().job).spec->depends_on, ElementsAre("afterany:2"));
  EXPECT_THAT(c.job(reply.value().job).unmet_dependencies,
              ElementsAre(Dependency{open, DependencyCondition::afterany}));
}

TEST(Rerun, WaitsForTheSuccessorOfWhatFailed) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId failed = c.submit(job("prepare"));
  const JobId id = c.submit(job("train").depends_on("prepare"));
  c.finish(failed, JobState::failed);
  c.finish(id, JobState::stopped);
  EXPECT_THAT(c.decide(rerun(c, id)).status().message(), HasSubstr("job 1 has failed"));
  const JobId again = c.decide(rerun(c, failed)).value().job;
  EXPECT_EQ(c.job(again).rerun_of, failed);
  const auto reply = c.decide(rerun(c, id));
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_THAT(c.job(reply.value().job).unmet_dependencies,
              ElementsAre(Dependency{again, DependencyCondition::afterok}));
}

TEST(Rerun, OfASingletonKeepsItsNameAndWaitsForNobodyWhoWaitsForIt) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto submit = [&](const JobBuilder& builder) {
    return c.decide(SubmitJob{builder.spec(), ""}).value().job;
  };
  const JobId first = submit(job("j").depends_on("singleton"));
  const JobId behind = submit(job("j").depends_on("singleton").depends_on("afterok:1"));
  submit(job("j").depends_on("singleton").depends_on("afterok:2"));
  c.finish(first, JobState::failed);
  const JobId other = submit(job("j").depends_on("singleton"));
  const auto reply = c.decide(rerun(c, first));
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_EQ(reply.value().name, "j");
  const JobId again = reply.value().job;
  EXPECT_THAT(c.job(behind).unmet_dependencies,
              ElementsAre(Dependency{again, DependencyCondition::afterok}));
  // `other` waits for those that wait for the first one, and so for this one.
  EXPECT_TRUE(c.job(again).unmet_dependencies.empty());
  EXPECT_FALSE(c.job(other).unmet_dependencies.empty());
}

TEST(Rerun, IsForItsOwnerAndOperatorsAndStaysHis) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_).add_user("eve");
  const JobId id = c.submit(job("j").user("bob"));
  c.finish(id, JobState::failed);
  EXPECT_EQ(c.decide(rerun(c, id), "eve").status().code(), Code::permission_denied);
  const auto reply = c.decide(rerun(c, id), "olga");
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_EQ(c.job(reply.value().job).user, "bob");
  ASSERT_TRUE(c.decide(SetUser{{.name = "bob", .active = false}}).is_ok());
  EXPECT_THAT(c.decide(rerun(c, id), "olga").status().message(), HasSubstr("not active"));
}

TEST(Rerun, TheSameRequestTwiceIsOneJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("j"));
  RerunJob command = rerun(c, id);
  command.request_id = "r";
  const auto first = c.decide(command);
  const auto second = c.decide(command);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  EXPECT_EQ(first.value().job, second.value().job);
  EXPECT_EQ(second.value().name, first.value().name);
}

}  // namespace
}  // namespace hai::test
