#include "server/store/history.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

class SampleTest : public StoreFixture {
 protected:
  static ClusterSample sample(int minute, double value) {
    ClusterSample sample{.at = unix_micros(int64_t{1'800'000'000} * 1'000'000) + minute * 60s};
    sample.values.fill(value);
    sample.values[0] = 8;
    return sample;
  }
  std::vector<ClusterSample> load(PgHistory& history, UnixTime since, Duration step) {
    return (*wait<Result<std::vector<ClusterSample>>>(
                [&](auto done) { history.load(since, step, done); }))
        .value();
  }
};

TEST_F(SampleTest, ComeBackAveragedAndOldOnesGo) {
  PgHistory history(loop_, conninfo_);
  for (int minute = 0; minute < 20; ++minute) history.save(sample(minute, minute), 90 * 24h);
  history.save(sample(19, 1'000), 90 * 24h);  // the minute is there: the first one stays
  const std::vector<ClusterSample> minutes = load(history, sample(18, 0).at, 1min);
  ASSERT_EQ(minutes.size(), 2u);
  EXPECT_EQ(minutes[1], sample(19, 19));
  const std::vector<ClusterSample> tens = load(history, sample(0, 0).at, 10min);
  ASSERT_EQ(tens.size(), 2u);
  EXPECT_EQ(tens[0], sample(0, 4.5));
  EXPECT_EQ(tens[1], sample(10, 14.5));
  history.save(sample(20, 20), 5min);
  EXPECT_EQ(load(history, sample(0, 0).at, 1min).size(), 6u);
}

}  // namespace
}  // namespace hai
