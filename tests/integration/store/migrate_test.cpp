#include "server/store/migrate.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
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
  // A schema as it was up to this version.
  void make_schema(int64_t version) {
    PgSession session({.conninfo = conninfo_, .check_schema = false});
    session.run(kMigrationTable);
    for (const Migration& each : migrations()) {
      if (each.version > version) break;
      session.run(each.sql);
      session.run(fmt::format("INSERT INTO schema_migration (version, name) VALUES ({}, '{}')",
                              each.version, each.name));
    }
  }
  // A backup that has begun and reads `node`, until it is closed.
  std::unique_ptr<PGconn, decltype(&PQfinish)> reader_of_node() {
    const std::string named = conninfo_ + " application_name=pg_dump";
    std::unique_ptr<PGconn, decltype(&PQfinish)> reader(PQconnectdb(named.c_str()), &PQfinish);
    PGresult* result = PQexec(reader.get(), "BEGIN; LOCK TABLE node IN ACCESS SHARE MODE");
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(reader.get());
    PQclear(result);
    return reader;
  }
  void execute(const char* sql, const char* settings = "") {
    PGconn* connection = PQconnectdb((conninfo_ + settings).c_str());
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

// Its ALTER TABLE waits for the backup, and all that comes after it would wait for the ALTER TABLE.
TEST_F(MigrateTest, TheLeaderWritesOnWhileABackupHoldsATable) {
  make_schema(13);
  auto reader = reader_of_node();
  std::thread migrating([this] {
    const Result<MigrateResult> result = migrate(conninfo_);
    EXPECT_TRUE(result.is_ok()) << result.status().message();
  });
  const std::string waiting =
      "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'node'::regclass";
  for (int round = 0; round < 3; ++round) {
    bool waits = false;
    for (int i = 0; i < 3'000 && !waits; ++i) {
      ::usleep(10'000);
      waits = value(waiting) != "0";
    }
    EXPECT_TRUE(waits) << "it tries again and again";
    execute("UPDATE node SET name = name", " options='-c statement_timeout=2s'");
  }
  EXPECT_EQ(value("SELECT max(version) FROM schema_migration"), "13");
  reader.reset();
  migrating.join();
  EXPECT_EQ(value("SELECT max(version) FROM schema_migration"),
            std::to_string(latest_schema_version()));
}

TEST_F(MigrateTest, SaysWhoHoldsTheTableThatItWaitedForInVain) {
  make_schema(13);
  const auto reader = reader_of_node();
  const Status gave_up = migrate(conninfo_, 1s).status();
  EXPECT_EQ(gave_up.code(), Code::unavailable);
  EXPECT_THAT(gave_up.message(), HasSubstr("another session holds table node (pg_dump, process "));
  EXPECT_THAT(gave_up.message(), HasSubstr("The schema is at version 13 of "));
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
