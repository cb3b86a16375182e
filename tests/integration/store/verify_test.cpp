// The ledger check must notice what it is there for.

#include "server/store/verify.h"

#include <libpq-fe.h>

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifyTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    PgStore store(loop_, {conninfo_});
    test::RandomCluster cluster(31);
    const Epoch epoch = acquire(store).value().epoch;
    ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
    for (int i = 0; i < 10; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch, 50)), ok());
    ASSERT_THAT(verify_ledger(conninfo_).value().differences, IsEmpty());
  }
  std::vector<std::string> differences_after(const char* sql) {
    PGconn* connection = PQconnectdb(conninfo_.c_str());
    PGresult* result = PQexec(connection, sql);
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection);
    EXPECT_STRNE(PQcmdTuples(result), "0") << "nothing was changed";
    PQclear(result);
    PQfinish(connection);
    const Result<LedgerReport> report = verify_ledger(conninfo_);
    if (!report.is_ok()) return {report.status().message()};
    return report.value().differences;
  }
};

TEST_F(VerifyTest, SeesAChangedRow) {
  EXPECT_THAT(differences_after("UPDATE job SET held = NOT held WHERE id = 1"),
              ElementsAre("job 1: the row differs from the log"));
}

TEST_F(VerifyTest, SeesAChangedAttemptOfThePast) {
  EXPECT_THAT(differences_after("UPDATE rank SET message = message || 'x' WHERE (job, attempt) ="
                                " (SELECT id, attempt - 1 FROM job WHERE attempt > 1 LIMIT 1)"),
              ElementsAre(testing::ContainsRegex("attempt [0-9]+.[0-9]+: the row differs")));
}

TEST_F(VerifyTest, SeesAMissingRow) {
  // One that never ran and holds nothing: else the nodes that it stands on differ, too.
  EXPECT_THAT(
      differences_after("DELETE FROM job WHERE id = (SELECT min(id) FROM job WHERE attempt = 0"
                        " AND rest->>'reservation' IS NULL)"),
      ElementsAre(testing::ContainsRegex("^job [0-9]+: in the log, but there is no row$")));
}

TEST_F(VerifyTest, SeesARowThatNobodyWrote) {
  EXPECT_THAT(differences_after("INSERT INTO quota VALUES ('eve', 'training', 'high', 1)"),
              ElementsAre("quota of eve in training/high: a row, but not in the log"));
}

TEST_F(VerifyTest, SeesAMissingEvent) {
  EXPECT_THAT(differences_after("DELETE FROM event WHERE seq = 3"),
              ElementsAre("the event log has 4 after 2"));
}

TEST_F(VerifyTest, SeesALostTail) {
  EXPECT_THAT(differences_after("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)"),
              Contains(HasSubstr("the log ends at")));
}

}  // namespace
}  // namespace hai
