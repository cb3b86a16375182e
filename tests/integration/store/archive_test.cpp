// Archiving loses nothing, whenever it dies, and holds no append up.

#include "server/store/archive.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "server/store/archive_files.h"
#include "server/store/event_log.h"
#include "server/store/hour_queries.h"
#include "server/store/line_file.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ArchiveTest : public StoreFixture {
 protected:
  void SetUp() override { make_history(7); }
  void make_history(uint64_t seed) {
    StoreFixture::SetUp();
    dir_ = testing::TempDir() + "hai-archive-" + std::to_string(getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directory(dir_);
    PgStore store(loop_, {conninfo_});
    test::RandomCluster cluster(seed);
    epoch_ = acquire(store).value().epoch;
    ASSERT_EQ(append(store, cluster.start_epoch(epoch_)), ok());
    for (int i = 0; i < 12; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch_, 50)), ok());
    whole_ = verify_ledger(conninfo_).value();
    release(store, epoch_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  ArchiveOptions options() const {
    return {.cluster = "test",
            .dir = dir_,
            .older_than = UnixTime::max(),
            .keep_events = 100,
            .part_events = 200,
            .rows_per_delete = 40};
  }
  LedgerReport verified() {
    const Result<LedgerReport> report = verify_ledger(conninfo_, {.archive_dir = dir_});
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    if (!report.is_ok()) return {};
    EXPECT_THAT(report.value().differences, IsEmpty());
    return report.value();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  std::string dir_;
  Epoch epoch_;
  LedgerReport whole_;
};

TEST_F(ArchiveTest, MovesTheBeginning) {
  const Result<ArchiveResult> result = archive_ledger(conninfo_, options());
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  EXPECT_EQ(result.value().first_seq, 1);
  EXPECT_EQ(result.value().last_seq, whole_.last_seq - 100);
  EXPECT_GT(result.value().jobs, 5);
  const int64_t last = result.value().last_seq;
  ASSERT_EQ(files().size(), static_cast<size_t>(result.value().files));
  EXPECT_EQ(files().front(), "hai-test-000000000001-000000000200-jobs.jsonl.gz");
  EXPECT_EQ(files().back(),
            fmt::format("hai-test-{:012}-{:012}.jsonl.gz", last - last % 200 + 1, last));

  const LedgerReport report = verified();
  EXPECT_EQ(report.events, whole_.events);
  EXPECT_EQ(report.archived_events, last);
  EXPECT_EQ(report.jobs, whole_.jobs);
  EXPECT_EQ(report.archived_jobs, result.value().jobs);
  EXPECT_EQ(report.attempts, whole_.attempts);
  EXPECT_EQ(report.ranks, whole_.ranks);
  EXPECT_EQ(report.digest, whole_.digest);

  EXPECT_EQ(archive_ledger(conninfo_, options()).value().events, 0);
}

// Its node was to blame: the archive refused for good, or would have taken the row of a job that
// runs.
TEST_F(ArchiveTest, AJobThatWasOpenedAgainStaysUntilItHasEndedForGood) {
  int64_t reopened = 0;
  // Ended for good in a part of the archive and in rows that stay; twice within one part.
  for (const uint64_t seed : {11, 21, 27, 42}) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TearDown();
    make_history(seed);
    PgSession session({.conninfo = conninfo_});
    reopened += session.run("SELECT count(*) FROM event WHERE kind = 'job_reopened'").integer(0, 0);
    const Result<ArchiveResult> result = archive_ledger(conninfo_, options());
    ASSERT_TRUE(result.is_ok()) << result.status().message();
    EXPECT_EQ(verified().digest, whole_.digest);
  }
  EXPECT_GT(reopened, 0);
}

// One line of it would be longer than a reader takes, and no run could go on from there.
TEST_F(ArchiveTest, AJobOfVeryManyAttemptsIsArchived) {
  const auto with_attempts = [this] {
    PgSession session({.conninfo = conninfo_});
    return session.run(
        "SELECT id, attempt FROM job WHERE state IN ('succeeded', 'failed', 'stopped') AND EXISTS"
        " (SELECT FROM attempt WHERE job = id AND number = job.attempt) ORDER BY ended_at LIMIT 1");
  };
  PgResult chosen = with_attempts();
  for (uint64_t seed = 8; chosen.size() == 0; ++seed) {
    make_history(seed);
    chosen = with_attempts();
  }
  PgSession session({.conninfo = conninfo_, .statement_timeout = 60s});
  const int64_t job = chosen.integer(0, 0);
  const int64_t first = chosen.integer(0, 1);
  const int64_t last = first + 4;
  session.run(fmt::format(
      "UPDATE job SET attempt = {1} WHERE id = {0};"
      "UPDATE attempt SET number = {1} WHERE job = {0} AND number = {2};"
      "UPDATE rank SET attempt = {1} WHERE job = {0} AND attempt = {2};"
      "CREATE TEMP TABLE before AS SELECT * FROM attempt WHERE job = {0} AND number = {1};"
      "UPDATE before SET suspend_reason = repeat('x', {3})",
      job, last, first, kLineBytesMax / 3));
  for (int64_t number = first; number < last; ++number) {
    session.run(fmt::format(
        "UPDATE before SET number = {}; INSERT INTO attempt SELECT * FROM before", number));
  }
  const Result<ArchiveResult> result = archive_ledger(conninfo_, options());
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  const auto left = session.run(fmt::format("SELECT count(*) FROM attempt WHERE job = {}", job));
  EXPECT_EQ(left.integer(0, 0), 0);
  std::vector<int> numbers;
  const auto parts = find_archive_files(dir_);
  ASSERT_TRUE(parts.is_ok());
  for (const ArchiveFile& part : parts.value()) {
    if (!part.has_jobs) continue;
    const Status read = read_jobs(part.path, [&](const ArchivedJob& archived) {
      if (archived.job.id != JobId{job}) return;
      for (const Attempt& attempt : archived.earlier) numbers.push_back(attempt.number);
      ASSERT_TRUE(archived.job.attempt.has_value());
      numbers.push_back(archived.job.attempt->number);
    });
    ASSERT_EQ(read, ok());
  }
  std::vector<int> expected(static_cast<size_t>(last));
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(numbers, expected);
}

// A server that was down, or one that has just got the history, has not counted them.
TEST_F(ArchiveTest, WhatGoesWasCountedBefore) {
  PgSession session({.conninfo = conninfo_});
  const auto submitted = [&] {
    return session.run("SELECT count(*) FROM event WHERE kind = 'job_submitted'").integer(0, 0);
  };
  const int64_t all = submitted();
  ASSERT_EQ(session.run("SELECT seq FROM history_cursor").integer(0, 0), 0);
  ASSERT_TRUE(archive_ledger(conninfo_, options()).is_ok());
  ASSERT_LT(submitted(), all);
  while (count_hours(session, 24h * 36'500)) {
  }
  EXPECT_EQ(session.run("SELECT sum(submitted)::bigint FROM history_hour").integer(0, 0), all);
}

TEST_F(ArchiveTest, ADryRunTellsAndDoesNothing) {
  ArchiveOptions dry = options();
  dry.dry_run = true;
  const ArchiveResult told = archive_ledger(conninfo_, dry).value();
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(verify_ledger(conninfo_).value().differences, IsEmpty());
  const ArchiveResult done = archive_ledger(conninfo_, options()).value();
  EXPECT_EQ(told.events, done.events);
  EXPECT_EQ(told.last_seq, done.last_seq);
  EXPECT_EQ(told.files, done.files);
}

TEST_F(ArchiveTest, KeepsWhatIsYoung) {
  FileEventLog log({});
  PgHistory history(loop_, conninfo_);
  const auto page = *wait<Result<std::vector<Event>>>(
      [&](auto done) { history.events({.after_seq = 250, .limit = 1}, done); });
  ArchiveOptions young = options();
  young.older_than = page.value().front().time;
  const ArchiveResult result = archive_ledger(conninfo_, young).value();
  EXPECT_LE(result.last_seq, 250);
  EXPECT_GT(result.last_seq, 200);
  EXPECT_EQ(verified().digest, whole_.digest);
}

// Dies between any two steps, by SIGKILL; the next run completes what it had begun.
TEST_F(ArchiveTest, DiesAnywhereAndLosesNothing) {
  int deaths = 0;
  for (int step = 0;; ++step) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int left = step % 7;  // early and late in a part
      ArchiveOptions dying = options();
      dying.between_steps = [&](const char*) {
        if (left-- == 0) ::raise(SIGKILL);
      };
      const bool is_ok = archive_ledger(conninfo_, dying).is_ok();
      ::_exit(is_ok ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    wait_until_unlocked();
    const LedgerReport report = verified();
    EXPECT_EQ(report.digest, whole_.digest);
    EXPECT_EQ(report.jobs, whole_.jobs);
    EXPECT_EQ(report.attempts, whole_.attempts);
    if (WIFSIGNALED(status)) {
      ++deaths;
      ASSERT_LT(step, 200);
      continue;
    }
    ASSERT_EQ(WEXITSTATUS(status), 0);
    break;
  }
  EXPECT_GT(deaths, 10);
  for (const std::string& name : files()) EXPECT_THAT(name, testing::EndsWith(".jsonl.gz"));
  EXPECT_EQ(archive_ledger(conninfo_, options()).value().events, 0);
}

TEST_F(ArchiveTest, RemovesWhatADeadRunHasLeft) {
  std::ofstream(dir_ + "/hai-test-000000000001-000000000999.jsonl.gz.partial") << "half";
  std::ofstream(dir_ + "/hai-other-000000000001-000000000999.jsonl.gz.partial") << "half";
  ArchiveOptions none = options();
  none.older_than = UnixTime{};
  ASSERT_TRUE(archive_ledger(conninfo_, none).is_ok());
  EXPECT_THAT(files(), ElementsAre("hai-other-000000000001-000000000999.jsonl.gz.partial"));
}

TEST_F(ArchiveTest, NoticesADamagedFile) {
  ASSERT_TRUE(archive_ledger(conninfo_, options()).is_ok());
  const std::string path = dir_ + "/" + files().back();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  const Result<LedgerReport> report = verify_ledger(conninfo_, {.archive_dir = dir_});
  EXPECT_EQ(report.status().code(), Code::data_loss);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("its SHA-256 is"));
}

// Restored to before an archive run: its files are there, and the database knows nothing of them.
TEST_F(ArchiveTest, FilesOfWhatWasTakenBackAreLeftAlone) {
  const auto write = [&](const std::string& name) {
    std::ofstream(dir_ + "/" + name) << "of other events";
  };
  const std::string same = "hai-test-000000000001-000000000200.jsonl.gz";
  const std::string other = "hai-test-000000000001-000000000150.jsonl.gz";
  write(same);
  write(other);
  EXPECT_THAT(verified().foreign_files, ElementsAre(other, same));
  const Result<ArchiveResult> result = archive_ledger(conninfo_, options());
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  EXPECT_THAT(files(), testing::Contains(same + ".taken-back-1"));
  const LedgerReport report = verified();
  EXPECT_EQ(report.digest, whole_.digest);
  EXPECT_EQ(report.archived_events, result.value().last_seq);
  EXPECT_THAT(report.foreign_files, ElementsAre(other));
}

TEST_F(ArchiveTest, VerifyAsksForTheArchive) {
  ASSERT_TRUE(archive_ledger(conninfo_, options()).is_ok());
  const Result<LedgerReport> report = verify_ledger(conninfo_);
  EXPECT_EQ(report.status().code(), Code::failed_precondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("--archive"));
}

TEST_F(ArchiveTest, AnArchivedJobIsSaidToBe) {
  const ArchiveResult result = archive_ledger(conninfo_, options()).value();
  ASSERT_GT(result.jobs, 0);
  const std::vector<ArchiveFile> parts = find_archive_files(dir_).value();
  JobId job;
  for (const ArchiveFile& part : parts) {
    auto reader = LineReader::open(part.path);
    std::string_view line;
    if (!part.has_jobs || !reader.value()->next(line).value()) continue;
    job = job_from_line(line).value().job.id;
    break;
  }
  PgHistory history(loop_, conninfo_);
  const auto ask = [&](JobId id) {
    return *wait<Result<Job>>([&](auto done) { history.job({.job = id}, done); });
  };
  EXPECT_EQ(ask(job).status().code(), Code::not_found);
  EXPECT_THAT(std::string(ask(job).status().message()),
              HasSubstr(fmt::format("job {} is archived", job.value)));
  EXPECT_EQ(std::string(ask(JobId{4711}).status().message()), "job 4711 does not exist");
}

// A server that loads its state goes on where it was, and ids are given once.
TEST_F(ArchiveTest, TheNextLeaderGoesOn) {
  PgStore store(loop_, {conninfo_});
  const Epoch before = acquire(store).value().epoch;
  const ClusterState state = loaded(store);
  release(store, before);
  ASSERT_TRUE(archive_ledger(conninfo_, options()).is_ok());
  const Epoch epoch = acquire(store).value().epoch;
  const ClusterState after = loaded(store);
  EXPECT_TRUE(after.equals(state));
  test::RandomCluster cluster(8, after);
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 5; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch, 50)), ok());
  verified();
}

}  // namespace
}  // namespace hai
