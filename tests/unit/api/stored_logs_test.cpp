// The log store as a server uses it, on a real loop and a folder.

#include "server/api/stored_logs.h"

#include "common/asio_loop.h"
#include "tests/unit/log_store/store_fixture.h"

namespace hai {
namespace {

class StoredLogsTest : public StoreTest {
 protected:
  StoredLogsOptions options(LogKeepRules rules = {}) const {
    return {.path = root_, .cluster = "fire", .rules = rules, .sweep_every = Duration(20ms)};
  }
  // Runs the loop until it is so; the test fails after 10 s.
  void run_until(const std::function<bool()>& is_so) {
    const MonoTime end = loop_.now() + 10s;
    std::function<void()> look = [&] {
      if (is_so() || loop_.now() > end) return loop_.stop();
      loop_.call_after(5ms, look);
    };
    loop_.post(look);
    loop_.run();
    EXPECT_TRUE(is_so());
  }
  Result<StoredLogPart> ask(StoredLogs& logs, const std::string& user) {
    std::optional<Result<StoredLogPart>> answer;
    logs.read({.key = key_, .user = user}, [&](Result<StoredLogPart> part) { answer = part; });
    EXPECT_FALSE(answer) << "never from inside the call";
    run_until([&] { return answer.has_value(); });
    return *answer;
  }
  static std::optional<std::set<StoredLogs::AttemptKey>> nothing_lives() {
    return std::set<StoredLogs::AttemptKey>();
  }

  AsioLoop loop_;
};

TEST_F(StoredLogsTest, AnswersWithWhatIsThereForWhoseItIs) {
  ASSERT_TRUE(writer(key_).append(store(), 0, "a line\n").is_ok());
  StoredLogs logs(loop_, options());
  EXPECT_EQ(ask(logs, "ann").value().part.bytes, "a line\n");
  EXPECT_EQ(ask(logs, "bob").status().code(), Code::not_found);
  EXPECT_EQ(logs.stats().reads, 2);
  EXPECT_EQ(logs.stats().reads_failed, 0);
}

TEST_F(StoredLogsTest, SaysWhyTheStoreCannotBeUsedAndWhenItCanAgain) {
  std::filesystem::remove(root_);
  StoredLogs logs(loop_, options());
  logs.start(nothing_lives);
  EXPECT_EQ(ask(logs, "ann").status().code(), Code::failed_precondition);
  EXPECT_EQ(logs.stats().reads_failed, 1);
  run_until([&] { return logs.stats().is_failing; });
  EXPECT_FALSE(std::filesystem::exists(root_));
  std::filesystem::create_directory(root_);
  run_until([&] { return !logs.stats().is_failing; });
  EXPECT_EQ(content(root_ + "/.hai-log-store"), "fire\n");
}

TEST_F(StoredLogsTest, AReadTellsWhetherTheStoreCanBeUsed) {
  StoredLogsOptions rarely_swept = options();
  rarely_swept.sweep_every = 24h;
  StoredLogs logs(loop_, rarely_swept);
  std::filesystem::rename(root_, root_ + ".away");
  EXPECT_FALSE(ask(logs, "ann").is_ok());
  EXPECT_TRUE(logs.stats().is_failing);
  std::filesystem::rename(root_ + ".away", root_);
  EXPECT_EQ(ask(logs, "ann").status().code(), Code::not_found);
  EXPECT_FALSE(logs.stats().is_failing);
}

TEST_F(StoredLogsTest, TooManyReadsAtOnceAreNoFailureOfTheStore) {
  StoredLogs logs(loop_, options());
  size_t answers = 0;
  size_t refused = 0;
  constexpr size_t kAsked = 4 * StoredLogs::kReadsWaitingMax;
  for (size_t i = 0; i < kAsked; ++i) {
    logs.read({.key = key_, .user = "ann"}, [&](const Result<StoredLogPart>& part) {
      ++answers;
      refused += part.status().code() == Code::resource_exhausted;
    });
  }
  run_until([&] { return answers == kAsked; });
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(logs.stats().reads_failed, 0);
  EXPECT_FALSE(logs.stats().is_failing);
}

TEST_F(StoredLogsTest, TheLeaderAloneDeletesAndNeverWhatRuns) {
  ASSERT_TRUE(writer(key_).append(store(), 0, "a line\n").is_ok());
  const auto chunk = std::filesystem::path(path_of(key_)) / chunk_name(0);
  for (const auto& path : {chunk, chunk.parent_path() / "rank.json"}) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
  }
  std::optional<std::set<StoredLogs::AttemptKey>> live;
  int asked = 0;
  StoredLogs logs(loop_, options({.keep = 24h}));
  logs.start([&] {
    ++asked;
    return live;
  });
  run_until([&] { return asked >= 3; });
  EXPECT_TRUE(std::filesystem::exists(chunk)) << "it does not lead";
  live = {{key_.job, key_.attempt}};
  run_until([&] { return logs.stats().kept.logs == 1; });
  EXPECT_TRUE(std::filesystem::exists(chunk)) << "it runs";
  live = {{key_.job, key_.attempt + 1}};
  run_until([&] { return logs.stats().kept.logs_deleted == 1; });
  EXPECT_FALSE(std::filesystem::exists(chunk));
}

}  // namespace
}  // namespace hai
