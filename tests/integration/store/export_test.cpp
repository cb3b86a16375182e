// A log as a file has what the database has.

#include "server/store/export.h"

#include <unistd.h>

#include <filesystem>

#include "server/store/event_line.h"
#include "server/store/event_log.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::HasSubstr;

class ExportTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    path_ = testing::TempDir() + "hai-export-" + std::to_string(getpid()) + ".jsonl.gz";
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void fill() {
    PgStore store(loop_, {conninfo_});
    test::RandomCluster cluster(5);
    const Epoch epoch = acquire(store).value().epoch;
    const auto keep = [&](const AppendBatch& batch) {
      for (const Event& event : batch.events) lines_.push_back(event_line(event));
      ASSERT_EQ(append(store, batch), ok());
    };
    keep(cluster.start_epoch(epoch));
    for (int i = 0; i < 4; ++i) keep(cluster.next_batch(epoch, 100));
  }
  std::vector<std::string> read() const {
    FileEventLog log({path_});
    std::vector<std::string> lines;
    while (true) {
      Result<std::vector<Event>> page = log.next_page();
      EXPECT_TRUE(page.is_ok()) << page.status().message();
      if (!page.is_ok() || page.value().empty()) return lines;
      for (const Event& event : page.value()) lines.push_back(event_line(event));
    }
  }

  std::string path_;
  std::vector<std::string> lines_;
};

TEST_F(ExportTest, WritesAllThatIsThere) {
  fill();
  const Result<ExportResult> result = export_events(conninfo_, {.path = path_});
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  EXPECT_EQ(result.value().events, std::ssize(lines_));
  EXPECT_EQ(read(), lines_);
}

TEST_F(ExportTest, WritesAPart) {
  fill();
  const Result<ExportResult> result =
      export_events(conninfo_, {.from = 10, .to = 12, .path = path_});
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  EXPECT_EQ(read(), std::vector(lines_.begin() + 9, lines_.begin() + 12));
}

TEST_F(ExportTest, RefusesWhatIsNotThereAndKeepsOldFiles) {
  EXPECT_THAT(std::string(export_events(conninfo_, {.path = path_}).status().message()),
              HasSubstr("the event log is empty"));
  fill();
  EXPECT_THAT(
      std::string(export_events(conninfo_, {.to = 100'000, .path = path_}).status().message()),
      HasSubstr("events 1 to 100000: the log has 1 to"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE(export_events(conninfo_, {.path = path_}).is_ok());
  EXPECT_FALSE(export_events(conninfo_, {.path = path_}).is_ok());
  EXPECT_EQ(read(), lines_);
}

}  // namespace
}  // namespace hai
