#include "server/api/cluster_series.h"

#include <gtest/gtest.h>

#include "server/api/queries.h"
#include "tests/support/builders.h"

namespace hai {
namespace {

ClusterSample sample(int64_t seconds, double value) {
  ClusterSample sample{.at = unix_micros(seconds * 1'000'000)};
  sample.values.fill(value);
  return sample;
}

struct Kept final : SampleStore {
  std::vector<ClusterSample> saved;
  std::vector<ClusterSample> stored;
  void save(ClusterSample sample, Duration) override { saved.push_back(sample); }
  void load(UnixTime since, Duration step,
            std::function<void(Result<std::vector<ClusterSample>>)> done) override {
    std::vector<ClusterSample> found;
    for (const ClusterSample& each : stored) {
      if (each.at >= since && to_micros(each.at) % step.count() == 0) found.push_back(each);
    }
    done(found);
  }
};

TEST(ClusterSeries, CoarserRingsHaveAverages) {
  ClusterSeries series;
  for (int i = 0; i <= 12; ++i) series.add(sample(600 + 10 * i, i));
  const auto fine = series.window(unix_micros(720'000'000), 1h);
  EXPECT_EQ(fine.step, Duration(10s));
  EXPECT_EQ(fine.samples.size(), 12u) << "the last stretch is not over";
  const auto minutes = series.window(unix_micros(720'000'000), 2h);
  EXPECT_EQ(minutes.step, Duration(1min));
  ASSERT_EQ(minutes.samples.size(), 2u);
  EXPECT_EQ(minutes.samples[0], sample(600, 2.5));
  EXPECT_EQ(minutes.samples[1], sample(660, 8.5));
}

// A job's GPUs on a node that nobody hears are neither used nor free: nobody knows.
TEST(ClusterSeries, WhatASilentNodesJobsHaveIsNotUsed) {
  test::Cluster c = test::cluster(test::nodes(2, test::gpus(8)));
  c.run(test::job("wide").nodes(2), {"node-1", "node-2"});
  c.emit(NodeLivenessChanged{c.node_id("node-2"), Liveness::suspect, "no report"});
  const std::string name;
  const ClusterSample sample = sample_of(summarize({c.state(), {}, name}), c.now);
  std::map<std::string_view, double> values;
  for (size_t i = 0; i < kSampleWords.size(); ++i) values[kSampleWords[i]] = sample.values[i];
  EXPECT_EQ(values["gpus_total"], 16);
  EXPECT_EQ(values["gpus_used"], 8);
  EXPECT_EQ(values["gpus_broken"], 8);
  EXPECT_EQ(values["gpus_free"], 0);
}

TEST(ClusterSeries, NeverGrowsBeyondItsRings) {
  ClusterSeries series;
  for (int64_t i = 0; i < 100'000; ++i) series.add(sample(10 * i, 1));
  const UnixTime now = unix_micros(int64_t{1'000'000} * 1'000'000);
  EXPECT_EQ(series.window(now, 1h).samples.size(), 359u);
  EXPECT_LE(series.window(now, 24h).samples.size(), 1'440u);
  EXPECT_LE(series.window(now, 90 * 24h).samples.size(), 2'160u);
}

TEST(ClusterSeries, AWindowHasNothingOlder) {
  ClusterSeries series;
  for (int64_t i = 0; i < 400; ++i) series.add(sample(10 * i, 1));
  const auto window = series.window(unix_micros(4'000 * int64_t{1'000'000}), 10min);
  EXPECT_EQ(window.samples.front().at, unix_micros(3'400 * int64_t{1'000'000}));
}

TEST(ClusterSeries, MinutesGoToTheStoreAndComeBack) {
  Kept store;
  ClusterSeries before;
  before.set_store(&store);
  for (int i = 0; i <= 18; ++i) before.add(sample(6'000 + 10 * i, 4));
  ASSERT_EQ(store.saved.size(), 3u);
  EXPECT_EQ(store.saved[1], sample(6'060, 4));

  store.stored = store.saved;
  ClusterSeries after;
  after.set_store(&store);
  after.add(sample(6'200, 9));
  after.add(sample(6'250, 9));  // it has a minute of its own already
  after.load(unix_micros(6'260 * int64_t{1'000'000}));
  const auto window = after.window(unix_micros(6'260 * int64_t{1'000'000}), 2h);
  ASSERT_EQ(window.samples.size(), 4u);
  EXPECT_EQ(window.samples[0], sample(6'000, 4));
  EXPECT_EQ(window.samples[3], sample(6'180, 9));
}

TEST(ClusterSeries, AClockThatGoesBackAddsNothingTwice) {
  ClusterSeries series;
  for (int64_t at : {100, 110, 120, 90, 100, 110, 120, 130, 140}) series.add(sample(at, 1));
  const auto window = series.window(unix_micros(140'000'000), 1h);
  for (size_t i = 1; i < window.samples.size(); ++i) {
    EXPECT_LT(window.samples[i - 1].at, window.samples[i].at);
  }
}

}  // namespace
}  // namespace hai
