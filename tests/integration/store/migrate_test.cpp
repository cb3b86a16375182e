#include "server/store/migrate.h"

#include <libpq-fe.h>

#include <algorithm>
#include <thread>

#include "server/store/migrations.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::HasSubstr;

class MigrateTest : public StoreFixture {
 protected:
  void SetUp() override {
    static int count = 0;
    conninfo_ = postgres().create_database("migrate_" + std::to_string(++count));
  }
  std::string value(const std::string& sql) {
    PGconn* connection = PQconnectdb(conninfo_.c_str());
    PGresult* result = PQexec(connection, sql.c_str());
    std::string text = PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : "no row";
    PQclear(result);
    PQfinish(connection);
    return text;
  }
  void execute(const char* sql) {
    PGconn* connection = PQconnectdb(conninfo_.c_str());
    PGresult* result = PQexec(connection, sql);
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
  }
};

TEST_F(MigrateTest, RunsOnceAndThenDoesNothing) {
  const MigrateResult first = migrate(conninfo_).value();
  EXPECT_EQ(first.from, 0);
  EXPECT_GE(first.to, 1);
  const MigrateResult second = migrate(conninfo_).value();
  EXPECT_EQ(second.from, first.to);
  EXPECT_EQ(second.to, first.to);
}

// Jobs that ran before run_seconds were counted. Here each ended attempt ran for 90.7 s.
TEST_F(MigrateTest, CountsWhatEarlierAttemptsRan) {
  ASSERT_TRUE(migrate(conninfo_).is_ok());
  PgStore store(loop_, {conninfo_});
  const Epoch epoch = acquire(store).value().epoch;
  test::RandomCluster cluster(1, loaded(store), {.nodes = 8});
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch, 50)), ok());
  execute("UPDATE attempt SET running_at = ended_at - interval '90.7 s'");
  execute("UPDATE job SET rest = (rest::jsonb - 'run_seconds')::json");
  const auto counts = std::ranges::find_if(migrations(), [](const Migration& each) {
    return std::string_view(each.name).ends_with("run_seconds");
  });
  ASSERT_NE(counts, migrations().end());
  execute(counts->sql);
  const std::string ended = "FROM attempt WHERE ended_at IS NOT NULL";
  EXPECT_NE(value("SELECT count(*) " + ended), "0");
  EXPECT_EQ(value("SELECT sum((rest->>'run_seconds')::bigint) FROM job"),
            value("SELECT 90 * count(*) " + ended));
}

TEST_F(MigrateTest, SeveralServersMayStartAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      const Result<MigrateResult> result = migrate(conninfo_);
      EXPECT_TRUE(result.is_ok()) << result.status().message();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(MigrateTest, ANewerDatabaseIsRefused) {
  ASSERT_TRUE(migrate(conninfo_).is_ok());
  execute("INSERT INTO schema_migration (version, name) VALUES (9999, 'future')");
  const Status refused = migrate(conninfo_).status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(refused.message(), HasSubstr("the database has schema 9999"));
  PgStore store(loop_, {conninfo_});
  EXPECT_THAT(acquire(store).status().message(), HasSubstr("use a newer program"));
}

TEST_F(MigrateTest, AStandbyOfAnOlderVersionDoesNotTakeOver) {
  ASSERT_TRUE(migrate(conninfo_).is_ok());
  PgStore leader(loop_, {conninfo_}), standby(loop_, {conninfo_});
  const Result<Term> term = acquire(leader);
  ASSERT_TRUE(term.is_ok()) << term.status().message();
  EXPECT_EQ(acquire(standby).status().code(), Code::failed_precondition);
  execute("INSERT INTO schema_migration (version, name) VALUES (9999, 'future')");
  const Status waits = acquire(standby).status();  // by the session that it has
  EXPECT_EQ(waits.code(), Code::failed_precondition);
  EXPECT_THAT(waits.message(), HasSubstr("ms; the database has schema 9999"));
  execute("UPDATE cluster_epoch SET expires_at = '-infinity', holder_process = 'gone'");
  EXPECT_THAT(acquire(standby).status().message(), HasSubstr("use a newer program"));
  execute("DELETE FROM schema_migration WHERE version = 9999");
  EXPECT_TRUE(acquire(standby).is_ok());
}

TEST_F(MigrateTest, AServerSaysThatTheSchemaIsMissing) {
  PgStore store(loop_, {conninfo_});
  const Status refused = acquire(store).status();
  EXPECT_EQ(refused.code(), Code::unavailable);
  EXPECT_THAT(refused.message(), HasSubstr("run hai-server migrate"));
}

TEST_F(MigrateTest, NoDatabaseIsUnavailable) {
  EXPECT_EQ(migrate("host=/nowhere dbname=none").status().code(), Code::unavailable);
}

}  // namespace
}  // namespace hai
