// Prints how fast the store is here; nothing is asserted, since the machine may be busy.

#include <chrono>

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

class SpeedTest : public StoreFixture {
 protected:
  template <typename Body>
  double seconds(Body body) {
    const MonoTime before = loop_.now();
    body();
    return std::chrono::duration<double>(loop_.now() - before).count();
  }
};

TEST_F(SpeedTest, SubmitsInBatches) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(1, test::RandomClusterOptions{.odd_text = false});
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int size : {1, 16, 100, 1'000}) {
    const int rounds = std::max(5, 2'000 / size);
    std::vector<AppendBatch> batches;
    for (int i = 0; i < rounds; ++i) batches.push_back(cluster.submit_jobs(epoch, size));
    const double took = seconds([&] {
      for (const AppendBatch& batch : batches) ASSERT_EQ(append(store, batch), ok());
    });
    fmt::print("submit, {} jobs a batch: {:.2f} ms a batch, {:.0f} jobs/s\n", size,
               took * 1e3 / rounds, size * rounds / took);
  }
}

TEST_F(SpeedTest, MixedEvents) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(1, test::RandomClusterOptions{.nodes = 200, .odd_text = false});
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  constexpr int kRounds = 50;
  std::vector<AppendBatch> batches;
  for (int i = 0; i < kRounds; ++i) batches.push_back(cluster.next_batch(epoch, 100));
  const double took = seconds([&] {
    for (const AppendBatch& batch : batches) ASSERT_EQ(append(store, batch), ok());
  });
  fmt::print("100 mixed events a batch: {:.2f} ms a batch\n", took * 1e3 / kRounds);
}

TEST_F(SpeedTest, LoadsAHundredThousandQueuedJobs) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(1, test::RandomClusterOptions{.odd_text = false});
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  constexpr int kJobs = 100'000;
  for (int done = 0; done < kJobs; done += 2'000) {
    ASSERT_EQ(append(store, cluster.submit_jobs(epoch, 2'000)), ok());
  }
  for (int i = 0; i < 3; ++i) {
    const double took = seconds([&] { ASSERT_EQ(load(store).value().jobs.size(), size_t{kJobs}); });
    fmt::print("load {} queued jobs: {:.0f} ms\n", kJobs, took * 1e3);
  }
}

}  // namespace
}  // namespace hai
