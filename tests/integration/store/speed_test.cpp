// Prints how fast the store is here; nothing is asserted, since the machine may be busy.

#include <chrono>
#include <ctime>

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

// Wall time, and CPU time of this process and of PostgreSQL.
struct Cost {
  double wall = 0;
  double own = 0;
  double database = 0;
};

class SpeedTest : public StoreFixture {
 protected:
  template <typename Body>
  Cost cost(Body body) {
    const MonoTime before = loop_.now();
    const std::clock_t own = std::clock();
    const double database = postgres().cpu_seconds();
    body();
    return {.wall = std::chrono::duration<double>(loop_.now() - before).count(),
            .own = static_cast<double>(std::clock() - own) / CLOCKS_PER_SEC,
            .database = postgres().cpu_seconds() - database};
  }
  static void print(const std::string& what, Cost cost, int times) {
    fmt::print("{}: {:.2f} ms (CPU: {:.2f} ms here, {:.2f} ms in PostgreSQL)\n", what,
               cost.wall * 1e3 / times, cost.own * 1e3 / times, cost.database * 1e3 / times);
  }
};

TEST_F(SpeedTest, SubmitsInBatches) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(1, test::RandomClusterOptions{.odd_text = false});
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int size : {1, 16, 100, 1'000}) {
    const int rounds = std::max(10, 4'000 / size);
    std::vector<AppendBatch> batches;
    for (int i = 0; i < rounds; ++i) batches.push_back(cluster.submit_jobs(epoch, size));
    const Cost took = cost([&] {
      for (const AppendBatch& batch : batches) ASSERT_EQ(append(store, batch), ok());
    });
    print(fmt::format("submit {} jobs", size), took, rounds);
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
  const Cost took = cost([&] {
    for (const AppendBatch& batch : batches) ASSERT_EQ(append(store, batch), ok());
  });
  print("append 100 mixed events", took, kRounds);
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
    const Cost took = cost([&] { ASSERT_EQ(load(store).value().jobs.size(), size_t{kJobs}); });
    print(fmt::format("load {} queued jobs", kJobs), took, 1);
  }
}

}  // namespace
}  // namespace hai
