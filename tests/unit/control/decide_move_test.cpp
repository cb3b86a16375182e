// A user's own order of his waiting jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;

class MoveJobTest : public ::testing::Test {
 protected:
  MoveJobTest() {
    c.add_user("bob");
    for (const char* name : {"a", "b", "c"}) c.submit(job(name));
    c.submit(job("other").user("bob"));
    c.submit(job("d"));
  }
  std::vector<std::string> order(const std::string& user) const {
    std::map<int64_t, std::string> by_rank;
    for (const auto& [id, job] : c.state().jobs()) {
      if (job.user == user && job.is_waiting()) by_rank[job.custom_rank] = job.spec->name;
    }
    std::vector<std::string> names;
    for (const auto& [rank, name] : by_rank) names.push_back(name);
    return names;
  }
  Result<CommandReply> move(const std::string& name, MoveJob::To to, const std::string& other = "",
                            const std::string& user = "ann") {
    return c.decide(MoveJob{name, to, other}, user);
  }
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
};

TEST_F(MoveJobTest, FirstLastAndBefore) {
  EXPECT_EQ(move("c", MoveJob::To::first).value().message,
            "is now number 1 of the 4 jobs of ann that wait in training");
  EXPECT_THAT(order("ann"), ElementsAre("c", "a", "b", "d"));
  ASSERT_TRUE(move("a", MoveJob::To::last).is_ok());
  EXPECT_THAT(order("ann"), ElementsAre("c", "b", "d", "a"));
  ASSERT_TRUE(move("a", MoveJob::To::before, "d").is_ok());
  EXPECT_THAT(order("ann"), ElementsAre("c", "b", "a", "d"));
}

TEST_F(MoveJobTest, NobodyElsesRankChanges) {
  ASSERT_TRUE(move("d", MoveJob::To::first).is_ok());
  EXPECT_EQ(c.job(JobId{4}).custom_rank, 4);
  std::vector<int64_t> ranks;
  for (const auto& [id, job] : c.state().jobs()) {
    if (job.user == "ann") ranks.push_back(job.custom_rank);
  }
  EXPECT_THAT(ranks, ::testing::UnorderedElementsAre(1, 2, 3, 5));
}

TEST_F(MoveJobTest, ThePlannerFollows) {
  ASSERT_TRUE(move("c", MoveJob::To::first).is_ok());
  ASSERT_FALSE(c.plan().starts.empty());
  EXPECT_EQ(c.plan().starts[0].job, JobId{3});
}

TEST_F(MoveJobTest, MovingWhereItIsChangesNothing) {
  const size_t before = c.events().size();
  ASSERT_TRUE(move("a", MoveJob::To::first).is_ok());
  EXPECT_EQ(c.events().size(), before);
}

TEST_F(MoveJobTest, WhatCanNotBeMoved) {
  const JobId away = c.submit(job("away").group("dev"));
  c.run(job("busy").group("dev"), {"node-2"});
  c.finish(c.submit(job("old")));
  const size_t before = c.events().size();
  EXPECT_EQ(move("4", MoveJob::To::first, "", "bob").status().code(), Code::ok);
  EXPECT_EQ(move("1", MoveJob::To::first, "", "bob").status().code(), Code::permission_denied);
  EXPECT_EQ(move("nobody", MoveJob::To::first).status().code(), Code::not_found);
  EXPECT_EQ(move("a", MoveJob::To::before, "a").status().code(), Code::invalid_argument);
  EXPECT_EQ(move("a", MoveJob::To::before, "other").status().code(), Code::not_found);
  EXPECT_EQ(move("a", MoveJob::To::before, "4").status().code(), Code::failed_precondition);
  EXPECT_EQ(move("a", MoveJob::To::before, std::to_string(away.value)).status().message(),
            "job 1 waits in group training, job 6 in dev");
  EXPECT_EQ(move("away", MoveJob::To::before, "busy").status().message(),
            "job 7 runs; only waiting jobs have an order");
  EXPECT_EQ(move("busy", MoveJob::To::first).status().message(),
            "job 7 runs; only waiting jobs have an order");
  EXPECT_EQ(move("8", MoveJob::To::first).status().code(), Code::failed_precondition);
  EXPECT_EQ(c.events().size(), before);
}

}  // namespace
}  // namespace hai::test
