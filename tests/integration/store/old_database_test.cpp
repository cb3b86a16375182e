// Databases that earlier versions wrote are read: migrated, verified, loaded, exported, gone on
// with.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "server/store/event_log.h"
#include "server/store/export.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::IsEmpty;

class OldDatabase : public StoreFixture, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    conninfo_ = postgres().create_database("old_" + std::to_string(getpid()));
    const std::string restore =
        fmt::format("gunzip -c '{}/{}' | psql -q -X -v ON_ERROR_STOP=1 -d '{}' > /dev/null",
                    HAI_OLD_DATABASES, GetParam(), conninfo_);
    ASSERT_EQ(std::system(restore.c_str()), 0) << restore;
  }
};

TEST_P(OldDatabase, IsReadAndGoneOnWith) {
  const Result<MigrateResult> migrated = migrate(conninfo_);
  ASSERT_TRUE(migrated.is_ok()) << migrated.status().message();

  const Result<LedgerReport> before = verify_ledger(conninfo_);
  ASSERT_TRUE(before.is_ok()) << before.status().message();
  EXPECT_THAT(before.value().differences, IsEmpty());
  EXPECT_GT(before.value().jobs, 100);
  EXPECT_GT(before.value().attempts, 10);

  const std::string log = testing::TempDir() + "hai-old-" + std::to_string(getpid()) + ".jsonl";
  std::filesystem::remove(log);
  const Result<ExportResult> exported = export_events(conninfo_, {.path = log});
  ASSERT_TRUE(exported.is_ok()) << exported.status().message();
  EXPECT_EQ(exported.value().events, before.value().last_seq);
  std::filesystem::remove(log);

  PgStore store(loop_, {conninfo_});
  const Epoch epoch = acquire(store).value().epoch;
  test::RandomCluster cluster(1, loaded(store), {.nodes = 24});
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 10; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch, 20)), ok());
  expect_ledger();
}

INSTANTIATE_TEST_SUITE_P(All, OldDatabase, testing::Values("2026-11-3161a27.sql.gz"),
                         [](const auto&) { return "Of3161a27"; });

}  // namespace
}  // namespace hai
