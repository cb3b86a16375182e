// The ledger check must notice what it is there for.

#include "server/store/verify.h"

#include <libpq-fe.h>

#include "server/model/state_digest.h"
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
    test::RandomCluster cluster(32);
    const Epoch epoch = acquire(store).value().epoch;
    ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
    for (int i = 0; i < 45; ++i) ASSERT_EQ(append(store, cluster.next_batch(epoch, 50)), ok());
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
                                " (SELECT r.job, r.attempt FROM rank r JOIN job j ON j.id = r.job"
                                " WHERE r.attempt < j.attempt LIMIT 1)"),
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

TEST_F(VerifyTest, SeesAColumnThatIsNotItsSpecs) {
  EXPECT_THAT(differences_after("UPDATE job SET name = name || 'x' WHERE id = 2"),
              ElementsAre("job 2: the row's columns differ from its spec"));
}

TEST_F(VerifyTest, SeesStrayAttemptsAndRanks) {
  EXPECT_THAT(
      differences_after("INSERT INTO attempt SELECT 9999, number, state, priority,"
                        " master_port, exclusive, placed_at, running_at, ended_at,"
                        " suspend_deadline, suspended_for, suspend_reason, ending"
                        " FROM attempt LIMIT 1"),
      ElementsAre(testing::ContainsRegex("attempt 9999.[0-9]+: a row, but not in the log")));
  EXPECT_THAT(differences_after("INSERT INTO rank SELECT 9998, attempt, rank, node, gpus, state,"
                                " cause, exit_code, message FROM rank LIMIT 1"),
              Contains(testing::ContainsRegex("rank 9998.[0-9]+.[0-9]+: a row, but not in")));
}

TEST_F(VerifyTest, SeesChangedIncidentsAndPeers) {
  EXPECT_THAT(differences_after("UPDATE incident SET summary = summary || 'x' WHERE id = 1"),
              ElementsAre("incident 1: the row differs from the log"));
  EXPECT_THAT(differences_after("UPDATE node SET peers = '{\"version\":99}' WHERE id = 2"),
              Contains("node 2: the row differs from the log"));
}

TEST_F(VerifyTest, SeesAnEventFiledElsewhere) {
  EXPECT_THAT(differences_after("UPDATE event SET subject = 'job/999999' WHERE seq = 5"),
              ElementsAre("event 5 is filed under 'job/999999'"));
}

// It must say so, and not stop as a server would for whom that is a bug of its own.
TEST_F(VerifyTest, SeesAnEventThatDoesNotFit) {
  EXPECT_THAT(differences_after("UPDATE event SET body = jsonb_set(body, '{job}', '100000')"
                                " WHERE seq = (SELECT max(seq) FROM event"
                                " WHERE kind = 'attempt_placed');"
                                "UPDATE event SET subject = 'job/100000'"
                                " WHERE body->>'job' = '100000'"),
              ElementsAre(testing::ContainsRegex("event [0-9]+ .attempt_placed. does not fit:"
                                                 " job 100000 does not exist")));
}

TEST_F(VerifyTest, ComparesTheStateOfAServerAtWork) {
  const LedgerReport whole = verify_ledger(conninfo_).value();
  EXPECT_GT(whole.jobs, 10);
  EXPECT_GT(whole.attempts, 5);
  EXPECT_GT(whole.ranks, whole.attempts);
  EXPECT_EQ(whole.nodes, 6);
  PgStore store(loop_, {conninfo_});
  const ClusterState live = loaded(store);
  const std::string digest = digest_text(state_digest(live));
  EXPECT_EQ(digest, whole.digest);
  const auto compared = [&](LiveDigest said) {
    return verify_ledger(conninfo_, {.live = std::move(said)}).value().differences;
  };
  EXPECT_THAT(compared({whole.last_seq, digest}), IsEmpty());
  EXPECT_THAT(compared({whole.last_seq - 1, digest}),
              ElementsAre(HasSubstr(fmt::format("has the digest {}, the log's ", digest))));
  EXPECT_THAT(compared({whole.last_seq + 1, digest}), ElementsAre(HasSubstr("the log ends at")));
}

TEST_F(VerifyTest, SeesALostTail) {
  EXPECT_THAT(differences_after("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)"),
              Contains(HasSubstr("the log ends at")));
}

}  // namespace
}  // namespace hai
