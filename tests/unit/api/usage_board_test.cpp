#include "server/api/usage_board.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

RankLine line(int rank, std::vector<int8_t> busy, std::vector<int64_t> steps) {
  return {.rank = rank,
          .node = "node-" + std::to_string(rank),
          .gpu_percent = std::move(busy),
          .steps = std::move(steps)};
}

class UsageBoardTest : public testing::Test {
 protected:
  // As if the agents of all nodes had reported so.
  void report(JobId job, int attempt, int percent, std::optional<int64_t> step) {
    for (const auto& [id, node] : cluster_.state().nodes()) {
      const ConnectionId connection{id.value};
      if (sessions_.find(connection) == nullptr) {
        sessions_.open(connection, node.facts.name);
        sessions_.bind(*sessions_.find(connection), id);
      }
      Session& session = *sessions_.find(connection);
      session.gpu_readings.assign(8, {.utilization_percent = percent, .memory_percent = 40});
      const RankKey key{job, attempt, static_cast<int>(id.value) - 1};
      session.ranks[key] = {.key = key, .progress_step = step};
      if (id == NodeId{2}) session.ranks[key].metrics = metrics_;
    }
  }
  void note() {
    cluster_.advance(10s);
    board_.note(cluster_.now, cluster_.state(), sessions_);
  }

  Cluster cluster_ = cluster(nodes(2, gpus(8)));
  Sessions sessions_;
  UsageBoard board_;
  RankMetrics metrics_;  // that rank 1 reports, and no other
};

TEST_F(UsageBoardTest, NotesEachRankOverTime) {
  const JobId id = cluster_.run(job("train").nodes(2), {"node-1", "node-2"});
  report(id, 1, 90, 5);
  note();
  report(id, 1, 70, std::nullopt);
  note();
  const UsageLines usage = board_.usage(id, 0);
  EXPECT_EQ(usage.attempt, 1);
  EXPECT_EQ(usage.attempts, std::vector<int>{1});
  EXPECT_EQ(usage.at.size(), 2u);
  ASSERT_EQ(usage.ranks.size(), 2u);
  EXPECT_EQ(usage.ranks[1].node, "node-2");
  EXPECT_EQ(usage.ranks[1].gpu_percent, (std::vector<int8_t>{90, 70}));
  EXPECT_EQ(usage.ranks[1].gpu_memory_percent, (std::vector<int8_t>{40, 40}));
  EXPECT_EQ(usage.ranks[1].steps, (std::vector<int64_t>{5, -1}));
  EXPECT_TRUE(usage.metrics.empty());
  EXPECT_EQ(board_.usage(id, 2).attempt, 0);
  EXPECT_EQ(board_.usage(JobId{99}, 0).attempt, 0);
}

TEST_F(UsageBoardTest, NotesMetricsOfTheLowestRankThatReportsThem) {
  const JobId id = cluster_.run(job("train").nodes(2), {"node-1", "node-2"});
  report(id, 1, 90, 5);
  note();
  metrics_ = {{"loss", 0.5}};
  report(id, 1, 90, 6);
  note();
  metrics_ = {{"loss", 0.25}, {"rate", 3}};
  report(id, 1, 90, 7);
  note();
  const UsageLines usage = board_.usage(id, 1);
  EXPECT_EQ(usage.metrics_rank, 1);
  EXPECT_EQ(usage.metrics.at("loss").values, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(usage.metrics.at("loss").at, (std::vector<UnixTime>{usage.at[1], usage.at[2]}));
  EXPECT_EQ(usage.metrics.at("rate").values, std::vector<double>{3});
  EXPECT_EQ(board_.values(), 2u * 3u + 3u);
  board_.forget();
  EXPECT_EQ(board_.values(), 0u);
}

TEST_F(UsageBoardTest, BoundsTheMetricsOfAProgramThatNamesEverNewOnes) {
  const JobId id = cluster_.run(job("train").nodes(2), {"node-1", "node-2"});
  for (int i = 0; i < 300; ++i) {
    metrics_ = {{"loss-" + std::to_string(i), i}};
    report(id, 1, 90, i);
    note();
  }
  const UsageLines usage = board_.usage(id, 1);
  EXPECT_EQ(usage.metrics.size(), kRankMetricsMax);
  EXPECT_LE(board_.values(), 2 * usage.at.size() + kRankMetricsMax);
}

TEST_F(UsageBoardTest, SaysThatNothingIsKnownOfANodeThatIsNotConnected) {
  const JobId id = cluster_.run(job("train"), {"node-1"});
  note();
  EXPECT_EQ(board_.usage(id, 1).ranks.at(0).gpu_percent, std::vector<int8_t>{-1});
}

TEST_F(UsageBoardTest, ThinsOutAndNeverGrowsFurther) {
  const JobId id = cluster_.run(job("train").nodes(2), {"node-1", "node-2"});
  for (int i = 0; i < 1'000; ++i) {
    report(id, 1, 50, i);
    note();
  }
  const UsageLines usage = board_.usage(id, 1);
  EXPECT_LE(usage.at.size(), UsageBoard::kPointsMax);
  EXPECT_GE(usage.at.size(), UsageBoard::kPointsMax / 3);
  EXPECT_TRUE(std::ranges::is_sorted(usage.at));
  EXPECT_EQ(board_.values(), 2 * usage.at.size());
  ASSERT_TRUE(seconds_per_step(usage));
  EXPECT_NEAR(*seconds_per_step(usage), 10.0, 0.5);
}

TEST_F(UsageBoardTest, TheLongestUnseenAttemptsGoFirst) {
  UsageBoard board(UsageBoard::kValuesMax, 3);
  const auto look = [&] { board.note(cluster_.advance(10s).now, cluster_.state(), sessions_); };
  std::vector<JobId> jobs;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const bool runs_on = jobs.size() == 1;  // "b"
    jobs.push_back(cluster_.run(job(name), {runs_on ? "node-2" : "node-1"}));
    look();
    if (!runs_on) cluster_.leave(jobs.back());
    EXPECT_LE(board.lines(), 3u);
    // Each that is kept is asked for, those that run get a point, and one goes.
    EXPECT_LE(board.lines_touched(), 3u + 2 + 1);
  }
  EXPECT_EQ(board.usage(jobs[0], 0).attempt, 0);
  EXPECT_EQ(board.usage(jobs[1], 0).attempt, 1) << "it was seen with each look";
  EXPECT_EQ(board.usage(jobs[2], 0).attempt, 0);
  EXPECT_EQ(board.usage(jobs[4], 0).attempt, 1);
  EXPECT_EQ(board.values(), board.usage(jobs[1], 0).at.size() + 2);
}

TEST_F(UsageBoardTest, TooManyValuesMakeRoomForNewOnes) {
  UsageBoard board(10, UsageBoard::kLinesMax);
  const JobId old = cluster_.run(job("old"), {"node-1"});
  for (int i = 0; i < 8; ++i) board.note(cluster_.advance(10s).now, cluster_.state(), sessions_);
  cluster_.leave(old);
  const JobId next = cluster_.run(job("next"), {"node-1"});
  for (int i = 0; i < 3; ++i) board.note(cluster_.advance(10s).now, cluster_.state(), sessions_);
  EXPECT_EQ(board.usage(old, 0).attempt, 0);
  EXPECT_EQ(board.usage(next, 0).at.size(), 3u);
  EXPECT_EQ(board.values(), 3u);
}

TEST_F(UsageBoardTest, ForgetsJobsThatAreNotKeptAndOtherTerms) {
  const JobId id = cluster_.run(job("train"), {"node-1"});
  note();
  ASSERT_EQ(board_.lines(), 1u);
  const Cluster other = cluster(nodes(2, gpus(8)));
  board_.note(cluster_.now, other.state(), sessions_);
  EXPECT_EQ(board_.lines(), 0u);
  EXPECT_EQ(board_.values(), 0u);
  note();
  EXPECT_EQ(board_.usage(id, 0).at.size(), 1u) << "it begins anew";
  board_.forget();
  EXPECT_EQ(board_.usage(id, 0).attempt, 0);
  EXPECT_EQ(board_.values(), 0u);
  note();
  EXPECT_EQ(board_.usage(id, 0).at.size(), 1u);
}

TEST(Stragglers, AreBehindInSteps) {
  const std::vector<StragglingRank> found = find_stragglers(
      {line(0, {-1}, {100}), line(1, {-1}, {60}), line(2, {-1}, {101}), line(3, {-1}, {-1})});
  EXPECT_EQ(found,
            (std::vector<StragglingRank>{{1, "node-1", "at step 60, the middle rank at 100"}}));
}

TEST(Stragglers, OrHaveIdleGpusWhileOthersWork) {
  const std::vector<StragglingRank> found =
      find_stragglers({line(0, {95}, {-1}), line(1, {20}, {-1}), line(2, {97}, {-1})});
  EXPECT_EQ(found, (std::vector<StragglingRank>{
                       {1, "node-1", "its GPUs are 20 % busy, the middle rank's 95 %"}}));
}

TEST(Stragglers, AreNotFoundAmongTwoOrWhereAllAreIdle) {
  EXPECT_TRUE(find_stragglers({line(0, {95}, {100}), line(1, {20}, {10})}).empty());
  EXPECT_TRUE(
      find_stragglers({line(0, {10}, {-1}), line(1, {2}, {-1}), line(2, {12}, {-1})}).empty());
  EXPECT_TRUE(find_stragglers({}).empty());
}

}  // namespace
}  // namespace hai::test
