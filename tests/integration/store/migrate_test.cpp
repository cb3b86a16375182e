#include "server/store/migrate.h"

#include <libpq-fe.h>

#include <thread>

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
