// Admission: what can never run is refused at once, with the reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

Result<CommandReply> submit(Cluster& c, const JobBuilder& builder,
                            const std::string& user = "ann") {
  return c.decide(SubmitJob{builder.spec(), builder.request_id()}, user);
}

void expect_refused(Cluster& c, const JobBuilder& builder, Code code, const std::string& text) {
  size_t before = c.events().size();
  Result<CommandReply> reply = submit(c, builder);
  ASSERT_FALSE(reply.is_ok());
  EXPECT_EQ(reply.status().code(), code) << reply.status().message();
  EXPECT_THAT(reply.status().message(), HasSubstr(text));
  EXPECT_EQ(c.events().size(), before) << "a refusal changes nothing";
}

TEST(Submit, QueuesTheJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  Result<CommandReply> reply = submit(c, job("j"));
  ASSERT_TRUE(reply.is_ok());
  EXPECT_EQ(reply.value().job, JobId{1});
  EXPECT_EQ(c.job(JobId{1}).state, JobState::queued);
  EXPECT_EQ(c.job(JobId{1}).user, "ann");
}

TEST(Submit, AnswersTheSameRequestWithTheSameJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  EXPECT_EQ(submit(c, job("j").request("r")).value().job, JobId{1});
  EXPECT_EQ(submit(c, job("j").request("r")).value().job, JobId{1});
  c.finish(JobId{1});
  EXPECT_EQ(submit(c, job("j").request("r")).value().job, JobId{1}) << "even when it has ended";
  EXPECT_EQ(submit(c, job("j").request("r"), "bob").value().job, JobId{2});
  EXPECT_EQ(submit(c, job("j")).value().job, JobId{3}) << "no request id is never the same";
}

TEST(Submit, RefusesTheRequestIdOfAnotherJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  ASSERT_TRUE(submit(c, job("j").request("r")).is_ok());
  const Status status = submit(c, job("k").request("r")).status();
  EXPECT_EQ(status.code(), Code::already_exists);
  EXPECT_NE(status.message().find("used for job 1 (j)"), std::string::npos) << status.message();
  ASSERT_TRUE(c.decide(EditJob{.job = "j", .timeout = 10min}).is_ok());
  EXPECT_TRUE(submit(c, job("j").request("r")).is_ok()) << "edited since, it is the same";
}

TEST(Submit, RefusesASecondUnfinishedJobOfOneName) {
  Cluster c = cluster(nodes(1, gpus(8)));
  ASSERT_TRUE(submit(c, job("j")).is_ok());
  expect_refused(c, job("j"), Code::already_exists, "unfinished job 1");
  c.finish(JobId{1});
  EXPECT_TRUE(submit(c, job("j")).is_ok());
}

TEST(Submit, RefusesWhatNoNodeIsOrHas) {
  Cluster c = cluster(nodes(2, gpus(8)).gpu_model("NVIDIA H800"),
                      nodes(2, gpus(4)).gpu_model("A100").label("fast").zone("B"));
  expect_refused(c, job("j").gpu_type("h900"), Code::invalid_argument,
                 "resource.gpu_type: no node of training has a GPU of type 'h900'; there is: A100, "
                 "NVIDIA H800");
  expect_refused(c, job("j").label("slow"), Code::invalid_argument,
                 "resource.labels: no node of training has the label 'slow'; there is: fast");
  expect_refused(c, job("j").only_on("other-[1-9]"), Code::invalid_argument,
                 "resource.nodes: none of other-[1-9] is a node of training");
  expect_refused(c, job("j").nodes(3).gpu_type("h800"), Code::invalid_argument,
                 "resource.node_count: 3 asked, but training has 2 nodes (GPU type h800)");
  expect_refused(c, job("j").gpu_type("h800").zone("B"), Code::invalid_argument,
                 "training#B has 0 nodes (GPU type h800)");
  expect_refused(c, job("j").label("fast").gpus(8), Code::invalid_argument, "0 nodes");
  expect_refused(c, job("j").only_on("node-1").not_on("node-1"), Code::invalid_argument,
                 "0 nodes (only node-1, not node-1)");
  expect_refused(c, job("j").gpu_type("a100").gpus(2).cpus(65), Code::invalid_argument, "0 nodes");
  EXPECT_TRUE(submit(c, job("j").gpu_type("h800").nodes(2)).is_ok());
  EXPECT_TRUE(submit(c, job("k").label("a100").label("fast").gpus(4).zone("B")).is_ok());
}

TEST(Submit, RefusesSecretsThatItsUserDoesNotHave) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.emit(SecretSet{{.user = "bob", .name = "key", .sealed = "x"}});
  JobSpec spec = job("j").spec();
  spec.secrets = {{"KEY", "key"}};
  const Result<CommandReply> refused = c.decide(SubmitJob{spec, ""}, "ann");
  EXPECT_EQ(refused.status().code(), Code::not_found);
  EXPECT_THAT(refused.status().message(),
              HasSubstr("spec.secrets.KEY: ann has no secret named key"));
  c.emit(SecretSet{{.user = "ann", .name = "key", .sealed = "x"}});
  EXPECT_TRUE(c.decide(SubmitJob{spec, ""}, "ann").is_ok());
}

TEST(Submit, RefusesCpusAndMemoryThatNoNodeHas) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const auto asks = [](int cpus, int64_t gib) {
    JobSpec spec = job("j").spec();
    spec.cpus_per_node = cpus;
    spec.memory_per_node_bytes = gib << 30;
    return SubmitJob{spec, ""};
  };
  EXPECT_TRUE(c.decide(asks(64, 10'000)).is_ok()) << "its nodes do not say what memory they have";
  c.finish(JobId{1});
  for (const auto& [id, node] : std::map(c.state().nodes())) {
    NodeFacts facts = node.facts;
    facts.cpus = 64;
    facts.memory_bytes = int64_t{id == NodeId{1} ? 24 : 512} << 30;
    facts.zone = id == NodeId{1} ? "A" : "B";
    c.emit(NodeRegistered{id, facts});
  }
  const Result<CommandReply> memory = c.decide(asks(0, 640));
  EXPECT_EQ(memory.status(), invalid_argument("resource.memory_per_node: 640.0 GiB asked, but no "
                                              "node of training has more than 512.0 GiB"));
  EXPECT_EQ(c.decide(asks(65, 0)).status().code(), Code::invalid_argument);
  SubmitJob in_zone_a = asks(64, 512);
  in_zone_a.spec.zone = "A";
  EXPECT_EQ(c.decide(in_zone_a).status().code(), Code::invalid_argument);
  EXPECT_TRUE(c.decide(asks(64, 512)).is_ok());
  SubmitJob on_two = asks(0, 100);
  on_two.spec.name = "k";
  on_two.spec.node_count = 2;
  EXPECT_EQ(c.decide(on_two).status(),
            invalid_argument("resource.node_count: 2 asked, but only 1 node of training has the "
                             "CPUs and memory asked for"));
}

TEST(Submit, TakesJobsWithoutGpusOnNodesWithoutAny) {
  Cluster c = cluster(nodes(2, gpus(0)));
  EXPECT_TRUE(c.decide(SubmitJob{job("a").gpus(kNoGpus).nodes(2).spec(), ""}).is_ok());
  EXPECT_EQ(c.decide(SubmitJob{job("b").gpus(kNoGpus).nodes(3).spec(), ""}).status(),
            invalid_argument("resource.node_count: 3 asked, but training has 2 nodes"));
  EXPECT_EQ(c.decide(SubmitJob{job("c").spec(), ""}).status().code(), Code::invalid_argument)
      << "no node has a GPU";
}

TEST(Submit, RefusesAnUnknownGroup) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  expect_refused(c, job("j").group("prod"), Code::invalid_argument, "there is: dev, training");
  Cluster empty = cluster();
  expect_refused(empty, job("j"), Code::invalid_argument, "no node has registered");
}

TEST(Submit, RefusesAnUnknownZone) {
  Cluster c = cluster(nodes(1, gpus(8)).zone("A"));
  expect_refused(c, job("j").zone("B"), Code::invalid_argument, "no zone 'B'");
}

TEST(Submit, RefusesMoreNodesThanThereAre) {
  Cluster c = cluster(nodes(3, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"),
                      nodes(9, gpus(8)).group("dev"), nodes(9, gpus(0)));
  EXPECT_TRUE(submit(c, job("five").nodes(5)).is_ok());
  expect_refused(c, job("j").nodes(6), Code::invalid_argument, "training has 5 nodes");
  expect_refused(c, job("j").nodes(3).zone("B"), Code::invalid_argument, "training#B has 2 nodes");
  expect_refused(c, job("j").nodes(4).cross_zone(CrossZone::never), Code::invalid_argument,
                 "has 3 nodes");
}

TEST(Submit, RefusesAGangThatNeedsThreeZones) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(3, gpus(8)).zone("B"),
                      nodes(1, gpus(8)).zone("C"));
  EXPECT_TRUE(submit(c, job("five").nodes(5)).is_ok());
  expect_refused(c, job("j").nodes(6), Code::invalid_argument,
                 "training has 5 nodes in two zones together");
}

TEST(Submit, CountsNodesThatAreDownOrDrained) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.set_liveness("node-1", Liveness::down).set_scheduling("node-2", Scheduling::drained);
  EXPECT_TRUE(submit(c, job("j").nodes(2)).is_ok()) << "they may come back";
}

TEST(Submit, RefusesSharesThatDoNotAlign) {
  Cluster c = cluster(nodes(2, gpus(8)));
  for (int count : {1, 2, 4, 8, 0}) {
    EXPECT_TRUE(submit(c, job(fmt::format("j{}", count)).gpus(count)).is_ok()) << count;
  }
  for (int count : {3, 5, 6, 7, 9, 16}) {
    expect_refused(c, job("j").gpus(count), Code::invalid_argument, "must be 1, 2, 4");
  }
}

TEST(Submit, RefusesSharesLargerThanAnyNode) {
  Cluster c = cluster(nodes(2, gpus(2)));
  expect_refused(c, job("j").gpus(4), Code::invalid_argument, "0 nodes with at least 4 GPUs");
}

TEST(Submit, RefusesWhatNoQuotaCouldEverHold) {
  Cluster c = cluster(nodes(8, gpus(8)));
  c.clear_quotas().set_quota("ann", "training", Priority::high, 4);
  c.set_quota("ann", "training", Priority::low, 2);
  EXPECT_TRUE(submit(c, job("four").nodes(4).priority(Priority::high)).is_ok());
  expect_refused(c, job("j").nodes(5).priority(Priority::high), Code::resource_exhausted,
                 "4 nodes in all, 5 asked");
  expect_refused(c, job("j").priority(Priority::normal), Code::resource_exhausted, "0 nodes");
  EXPECT_TRUE(submit(c, job("two").nodes(2).priority(Priority::automatic)).is_ok());
  expect_refused(c, job("j").nodes(3).priority(Priority::automatic), Code::resource_exhausted,
                 "2 nodes in all");
}

TEST(Submit, RefusesTooManyUnfinishedJobs) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.max_unfinished_jobs_per_user = 2;
  EXPECT_TRUE(submit(c, job("a").request("r")).is_ok());
  EXPECT_TRUE(submit(c, job("b")).is_ok());
  expect_refused(c, job("c"), Code::resource_exhausted, "2 unfinished jobs");
  EXPECT_TRUE(submit(c, job("a").request("r")).is_ok()) << "asking again is not one more";
}

TEST(Submit, TakesNoInteractiveJobsByDefault) {
  Cluster c = cluster(nodes(2, gpus(8)));
  expect_refused(c, job("box").interactive(), Code::failed_precondition,
                 "this cluster has no interactive nodes");
}

TEST(Submit, TakesSoManyInteractiveNodesOfAUserAndOfAll) {
  Cluster c = cluster(nodes(8, gpus(8)));
  c.add_user("bob");
  c.knobs.interactive_nodes = 2;
  c.knobs.interactive_nodes_per_user = 1;
  expect_refused(c, job("gang").nodes(2).interactive(), Code::resource_exhausted,
                 "ann has 0 of 1 interactive nodes (interactive_nodes_per_user), and 2 more");
  const JobId box = submit(c, job("box").gpus(4).interactive()).value().job;
  EXPECT_TRUE(submit(c, job("plain").nodes(4)).is_ok());
  expect_refused(c, job("whole").interactive(), Code::resource_exhausted,
                 "ann has 0.5 of 1 interactive nodes (interactive_nodes_per_user), and 1 more");
  EXPECT_TRUE(submit(c, job("his").interactive(), "bob").is_ok());
  c.knobs.interactive_nodes_per_user = 5;
  expect_refused(c, job("more").interactive(), Code::resource_exhausted,
                 "all have 1.5 of 2 interactive nodes (interactive_nodes), and 1 more");
  c.finish(box);
  EXPECT_TRUE(submit(c, job("more").interactive()).is_ok());
}

TEST(Submit, OfAJobInAnImageIsAsAnyOther) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobSpec spec = job("j").spec();
  spec.image = "docker://ubuntu";
  EXPECT_TRUE(c.decide(SubmitJob{spec, ""}).is_ok());
}

TEST(Submit, ResolvesDependenciesByNameAndId) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b"));
  JobId done = c.submit(job("done"));
  c.finish(done);
  Result<CommandReply> reply =
      submit(c, job("j").depends_on("a").depends_on("2").depends_on("1").depends_on("3"));
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_EQ(c.job(reply.value().job).unmet_dependencies, (std::vector<Dependency>{{a}, {b}}));
}

TEST(Submit, RefusesDependenciesThatCanNeverBeMet) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.finish(c.submit(job("failed")), JobState::failed);
  expect_refused(c, job("j").depends_on("nothing"), Code::not_found, "nothing");
  expect_refused(c, job("j").depends_on("77"), Code::not_found, "77");
  expect_refused(c, job("j").depends_on("1"), Code::failed_precondition, "job 1 has failed");
  c.finish(c.submit(job("done")));
  expect_refused(c, job("j").depends_on("afternotok:2"), Code::failed_precondition,
                 "job 2 has succeeded, so that afternotok can never be met");
  expect_refused(c, job("j").depends_on("later:1"), Code::invalid_argument, "must be afterok");
  EXPECT_TRUE(submit(c, job("j").depends_on("afterany:1").depends_on("after:2")).is_ok());
}

TEST(Submit, RefusesToWaitForJobsOfOthersOrThatComeLater) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  c.submit(job("hers"));
  const JobBuilder waits = job("j").depends_on("1");
  EXPECT_EQ(submit(c, waits, "bob").status().message(),
            "options.depends_on: job 1 belongs to ann; a job can wait only for those of its own "
            "user");
  EXPECT_EQ(submit(c, waits, "olga").status().code(), Code::permission_denied);
  EXPECT_EQ(submit(c, job("j").depends_on("hers"), "bob").status().code(), Code::not_found);
  // Its own number, and so no circle either.
  expect_refused(c, job("j").depends_on("2"), Code::not_found, "submitted before it");
  expect_refused(c, job("j").depends_on("b"), Code::not_found, "submitted before it");
}

TEST(Submit, TakesTheFateOfForgottenJobsFromTheHistory) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const auto with = [&](const std::string& word, const EndedJob& ended) {
    return c.decide(SubmitJob{job("j").depends_on(word).spec(), "", {ended}}).status();
  };
  for (int i = 0; i < 3; ++i) c.finish(c.submit(job("x")));
  const_cast<ClusterState&>(c.state()).evict_finished(0);
  const EndedJob good{JobId{1}, "ann", "old", JobState::succeeded};
  const EndedJob bad{JobId{2}, "ann", "old", JobState::failed};
  EXPECT_EQ(with("1", bad).message(),
            "options.depends_on: job 1 has ended long ago, and what became of it is not known here "
            "any more; leave it out");
  EXPECT_EQ(with("2", bad).code(), Code::failed_precondition);
  EXPECT_EQ(with("old", bad).code(), Code::failed_precondition);
  EXPECT_EQ(with("1", {JobId{1}, "bob", "old", JobState::succeeded}).code(),
            Code::permission_denied);
  EXPECT_EQ(with("1", {JobId{1}, "ann", "old", JobState::running}).code(), Code::not_found)
      << "a row that is older than what is known here";
  EXPECT_TRUE(with("afternotok:old", bad).is_ok());
  EXPECT_THAT(c.job(JobId{4}).unmet_dependencies, ::testing::IsEmpty());
  c.finish(JobId{4});
  EXPECT_TRUE(with("1", good).is_ok());
}

TEST(Submit, OnlySingletonsShareAName) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_TRUE(submit(c, job("n").depends_on("singleton")).is_ok());
  EXPECT_TRUE(submit(c, job("n").depends_on("singleton")).is_ok());
  expect_refused(c, job("n"), Code::already_exists, "job 1");
}

}  // namespace
}  // namespace hai::test
