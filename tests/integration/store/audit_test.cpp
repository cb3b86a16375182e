#include <thread>

#include "tests/integration/store/audit_fixture.h"

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AuditTest : public AuditFixture {};

TEST_F(AuditTest, RowsComeBackAsTheyWereAndTheChainHolds) {
  PgAuditLog log(loop_, conninfo_);
  ASSERT_EQ(append(log, {entry("job/1"), entry("job/2", "")}), ok());
  ASSERT_EQ(append(log, {entry("job/3")}), ok());
  const std::vector<AuditRow> found = rows();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].entry, entry("job/1"));
  EXPECT_EQ(found[1].entry, entry("job/2", ""));
  EXPECT_EQ(found[2].seq, 3);
  EXPECT_EQ(found[2].hash, audit_hash(found[1].hash, 3, entry("job/3")));
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_EQ(verify_ledger(conninfo_).value().audit_entries, 3);
}

// A text that PostgreSQL would not take must not stop all that come after it.
TEST_F(AuditTest, BytesThatAreNoTextAreTaken) {
  PgAuditLog log(loop_, conninfo_);
  ASSERT_EQ(append(log, {entry(std::string("job/\xff\0x", 7))}), ok());
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(AuditTest, RowsAreOnlyAdded) {
  fill(2);
  for (const char* sql : {"UPDATE audit SET user_name = 'bob'", "DELETE FROM audit WHERE seq = 1",
                          "TRUNCATE audit"}) {
    PgSession session({.conninfo = conninfo_});
    try {
      session.run(sql);
      FAIL() << sql;
    } catch (const PgError& error) {
      EXPECT_THAT(error.what(), HasSubstr("only added")) << sql;
    }
  }
  EXPECT_THAT(rows(), SizeIs(2));
}

TEST_F(AuditTest, AChangedRowIsNamed) {
  fill(9);
  for (const char* column :
       {"user_name", "token", "address", "call", "target", "result", "detail", "hash"}) {
    tamper(fmt::format("UPDATE audit SET {0} = {0} || 'x' WHERE seq = 5", column));
    ASSERT_THAT(differences(), SizeIs(1)) << column;
    EXPECT_THAT(differences()[0], HasSubstr("entry 5 of the audit log, of 2027-01-15T08:00:00"))
        << column;
    tamper(fmt::format("UPDATE audit SET {0} = left({0}, -1) WHERE seq = 5", column));
    EXPECT_THAT(differences(), IsEmpty()) << column;
  }
  tamper("UPDATE audit SET at = at + interval '1 microsecond' WHERE seq = 5");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 5 of")));
}

TEST_F(AuditTest, WhatIsMovedFromFieldToFieldIsNamed) {
  fill(3);
  tamper("UPDATE audit SET call = 'Control', target = 'Job' || target WHERE seq = 2");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 2 of the audit log")));
}

TEST_F(AuditTest, ARowThatIsGoneIsNamed) {
  fill(9);
  tamper("DELETE FROM audit WHERE seq IN (4, 5)");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 6 of the audit log")));
  EXPECT_THAT(differences()[0], HasSubstr("follows 3: those between are gone"));
}

TEST_F(AuditTest, TheFirstRowIsMissed) {
  fill(3);
  tamper("DELETE FROM audit WHERE seq = 1");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 2 of the audit log")));
}

// Numbered anew so that there is no gap.
TEST_F(AuditTest, RowsThatChangePlacesAreNamed) {
  fill(5);
  tamper(
      "UPDATE audit SET seq = 100 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3;"
      " UPDATE audit SET seq = 3 WHERE seq = 100");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 2 of the audit log")));
}

// Every server of a cluster writes, also those that do not lead.
TEST_F(AuditTest, WritersTakeTurns) {
  constexpr int kEach = 50;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([this, writer] {
      PgSession session({.conninfo = conninfo_, .statement_timeout = 30s});
      for (int i = 0; i < kEach; ++i) append_audit(session, {entry(fmt::format("job/{}", writer))});
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(rows(), SizeIs(4 * kEach));
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(AuditTest, IsFoundByWhoWhatAndWhen) {
  PgAuditLog log(loop_, conninfo_);
  AuditEntry refused = entry("job/2", "bob");
  refused.result = "permission_denied";
  AuditEntry late = entry("job/3, job/4");
  late.at += 1h;
  ASSERT_EQ(append(log, {entry("job/1"), refused, late}), ok());
  EXPECT_THAT(targets_of(find({})), ElementsAre("job/3, job/4", "job/2", "job/1"));
  EXPECT_THAT(targets_of(find({.user = "bob"})), ElementsAre("job/2"));
  EXPECT_THAT(targets_of(find({.result = "refused"})), ElementsAre("job/2"));
  EXPECT_THAT(targets_of(find({.result = "ok", .target = "job/4"})), ElementsAre("job/3, job/4"));
  EXPECT_THAT(targets_of(find({.target = "job/"})), IsEmpty());
  EXPECT_THAT(targets_of(find({.call = "SetUser"})), IsEmpty());
  EXPECT_THAT(targets_of(find({.since = late.at})), ElementsAre("job/3, job/4"));
  EXPECT_THAT(targets_of(find({.before_seq = 3, .limit = 1})), ElementsAre("job/2"));
  EXPECT_THAT(targets_of(find({.user = "'; DROP TABLE audit; --"})), IsEmpty());
}

}  // namespace
}  // namespace hai
