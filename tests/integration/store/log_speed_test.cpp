// Prints what verifying, exporting and archiving a long log cost, and what the leader's appends
// feel of it. By hand: --gtest_also_run_disabled_tests, HAI_LOG_EVENTS=N (default 200,000).

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "server/store/archive.h"
#include "server/store/export.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

class LogSpeedTest : public StoreFixture {
 protected:
  static int64_t events() {
    const char* text = std::getenv("HAI_LOG_EVENTS");
    return text == nullptr ? 200'000 : std::atoll(text);
  }
  // Milliseconds of each append.
  std::vector<double> append_for(PgStore& store, test::RandomCluster& cluster, Epoch epoch,
                                 const std::function<bool()>& is_over) {
    std::vector<double> took;
    while (!is_over()) {
      const AppendBatch batch = cluster.next_batch(epoch, 20);
      const Clock::time_point start = Clock::now();
      EXPECT_EQ(append(store, batch), ok());
      took.push_back(1e3 * seconds_since(start));
    }
    std::ranges::sort(took);
    return took;
  }
  static void print(const char* when, const std::vector<double>& ms) {
    const auto at = [&](double share) {
      return ms[static_cast<size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    fmt::print("appends {}: {} of them, p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n", when,
               ms.size(), at(0.5), at(0.99), at(1));
  }
};

TEST_F(LogSpeedTest, DISABLED_LongLog) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(1, test::RandomClusterOptions{.nodes = 50, .odd_text = false});
  const Epoch epoch = acquire(store, 10min).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  while (cluster.state().last_seq() < events()) {
    ASSERT_EQ(append(store, cluster.next_batch(epoch, 1'000)), ok());
  }
  Clock::time_point start = Clock::now();
  const double before_mb = peak_rss_mb();
  const LedgerReport report = verify_ledger(conninfo_).value();
  EXPECT_THAT(report.differences, testing::IsEmpty());
  double took = seconds_since(start);
  fmt::print(
      "verify: {} events, {} jobs, {} attempts: {:.1f} s, {:.0f} events/s; peak memory {:.0f}"
      " MB, {:.0f} before\n",
      report.events, report.jobs, report.attempts, took, static_cast<double>(report.events) / took,
      peak_rss_mb(), before_mb);

  const std::string dir = testing::TempDir() + "hai-log-speed-" + std::to_string(getpid());
  std::filesystem::create_directory(dir);
  const std::string path = dir + "/export.jsonl.gz";
  start = Clock::now();
  ASSERT_TRUE(export_events(conninfo_, {.path = path}).is_ok());
  took = seconds_since(start);
  fmt::print("export: {:.1f} s, {:.0f} events/s, {:.1f} MB\n", took,
             static_cast<double>(report.events) / took,
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);

  const Clock::time_point quiet = Clock::now();
  print("alone", append_for(store, cluster, epoch, [&] { return seconds_since(quiet) > 5; }));
  std::atomic<bool> is_over = false;
  Result<ArchiveResult> archived = unavailable("not yet");
  start = Clock::now();
  std::thread archiver([&] {
    archived = archive_ledger(
        conninfo_,
        {.cluster = "speed", .dir = dir, .older_than = UnixTime::max(), .part_events = 50'000});
    is_over = true;
  });
  const std::vector<double> beside =
      append_for(store, cluster, epoch, [&] { return is_over.load(); });
  archiver.join();
  took = seconds_since(start);
  ASSERT_TRUE(archived.is_ok()) << archived.status().message();
  fmt::print("archive: {} events, {} jobs: {:.1f} s, {:.0f} events/s\n", archived.value().events,
             archived.value().jobs, took, static_cast<double>(archived.value().events) / took);
  print("beside it", beside);
  const LedgerReport after = verify_ledger(conninfo_, {.archive_dir = dir}).value();
  EXPECT_THAT(after.differences, testing::IsEmpty());
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace hai
