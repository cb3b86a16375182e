#include "common/log_store/keeper.h"

#include <gmock/gmock.h>

#include "tests/unit/log_store/store_fixture.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const UnixTime kNow = unix_micros(1'795'161'600'000'000);

StoredLog log_of(int64_t job, const char* user, int64_t bytes, Duration age, bool is_live = false) {
  return {.key = {.job = JobId{job}, .attempt = 1, .rank = 0},
          .user = user,
          .bytes = bytes,
          .written_at = kNow - age,
          .is_live = is_live};
}

std::vector<int64_t> deleted(const std::vector<StoredLog>& logs, const LogKeepRules& rules) {
  std::vector<int64_t> jobs;
  for (const StoredLog& log : logs_to_delete(logs, rules, kNow)) jobs.push_back(log.key.job.value);
  return jobs;
}

TEST(LogKeeper, DeletesWhatIsTooOld) {
  const LogKeepRules rules{.keep = 24h, .user_bytes = 1000};
  EXPECT_THAT(deleted({log_of(1, "ann", 10, 25h), log_of(2, "ann", 10, 23h),
                       log_of(3, "bob", 10, 24h), log_of(4, "bob", 10, 99h, true)},
                      rules),
              ElementsAre(1, 3));
}

TEST(LogKeeper, DeletesTheOldestOfWhoHasTooMuchAndOfNobodyElse) {
  const LogKeepRules rules{.keep = 1000h, .user_bytes = 100};
  EXPECT_THAT(deleted({log_of(5, "ann", 40, 1h), log_of(4, "ann", 40, 3h), log_of(3, "ann", 40, 2h),
                       log_of(2, "bob", 100, 9h)},
                      rules),
              ElementsAre(4));
  EXPECT_THAT(deleted({log_of(1, "ann", 500, 1h)}, rules), ElementsAre(1));
  EXPECT_THAT(deleted({log_of(1, "ann", 100, 1h)}, rules), IsEmpty());
}

TEST(LogKeeper, WhatRunsCountsAndStays) {
  const LogKeepRules rules{.keep = 1000h, .user_bytes = 100};
  EXPECT_THAT(deleted({log_of(1, "ann", 90, 5h, true), log_of(2, "ann", 20, 1h)}, rules),
              ElementsAre(2));
  EXPECT_THAT(deleted({log_of(1, "ann", 900, 5h, true)}, rules), IsEmpty());
}

// Who lives is asked before the store is looked through: a rank may have begun in between.
TEST(LogKeeper, WhatWasWrittenSinceStays) {
  EXPECT_THAT(deleted({log_of(1, "ann", 500, -1s)}, {.keep = 24h, .user_bytes = 100}), IsEmpty());
}

TEST_F(StoreTest, ASweepLeavesAFolderThatWasJustMade) {
  ASSERT_TRUE(store().open_or_make_rank(key_).is_ok());
  const auto nobody = [](const RankKey&) { return false; };
  const UnixTime now = store().root().changed_at();
  EXPECT_EQ(sweep_logs(store(), {.keep = 1h}, now, nobody).value().logs_deleted, 0);
  EXPECT_EQ(sweep_logs(store(), {.keep = 1h}, now + Duration(2h), nobody).value().logs_deleted, 1);
}

TEST_F(StoreTest, ASweepFindsMeasuresAndDeletes) {
  const auto key = [](int64_t job) { return RankKey{.job = JobId{job}, .attempt = 1, .rank = 0}; };
  for (const int64_t job : {7, 1007, 1008}) {
    ASSERT_TRUE(writer(key(job)).append(store(), 0, "some text\n").is_ok());
  }
  put(root_ + "/notes", "not a log");
  std::filesystem::create_directory(root_ + "/5");
  const UnixTime later = read(key(7), 0).value().written_at + Duration(48h);
  const auto is_live = [](const RankKey& asked) { return asked.job.value == 1007; };
  const SweepResult kept = sweep_logs(store(), {.keep = 72h}, later, is_live).value();
  EXPECT_EQ(kept.logs, 3);
  EXPECT_EQ(kept.logs_deleted, 0);
  EXPECT_GT(kept.bytes, 0);

  const SweepResult swept = sweep_logs(store(), {.keep = 24h}, later, is_live).value();
  EXPECT_EQ(swept.logs, 1);
  EXPECT_EQ(swept.logs_deleted, 2);
  EXPECT_EQ(swept.bytes + swept.bytes_deleted, kept.bytes);
  EXPECT_FALSE(std::filesystem::exists(path_of(key(7))));
  EXPECT_FALSE(std::filesystem::exists(path_of(key(1008))));
  EXPECT_EQ(read(key(1007), 0).value().part.bytes, "some text\n");
  EXPECT_TRUE(std::filesystem::exists(root_ + "/notes"));
}

}  // namespace
}  // namespace hai
