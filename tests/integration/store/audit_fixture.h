#pragma once
// The audit log in a database of its own.

#include <string>
#include <vector>

#include "server/store/audit_chain.h"
#include "server/store/audit_log.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {

class AuditFixture : public StoreFixture {
 protected:
  static AuditEntry entry(const std::string& target, const std::string& user = "ann") {
    return {.at = unix_micros(1'800'000'000'123'456),
            .user = user,
            .token = "0123456789ab",
            .address = "10.0.0.7",
            .call = "ControlJob",
            .target = target,
            .result = "ok",
            .detail = "stop: naïve; \"quotes\", \\ and {braces}"};
  }
  Status append(PgAuditLog& log, std::vector<AuditEntry> entries) {
    return *wait<Status>([&](auto done) { log.append(std::move(entries), done); });
  }
  std::vector<AuditRow> rows() {
    PgSession session({.conninfo = conninfo_});
    return audit_page(session, 0, 100'000);
  }
  std::vector<AuditRow> find(const AuditQuery& query) {
    PgSession session({.conninfo = conninfo_});
    return find_audit(session, query).value();
  }
  std::vector<std::string> targets_of(const std::vector<AuditRow>& rows) {
    std::vector<std::string> targets;
    for (const AuditRow& row : rows) targets.push_back(row.entry.target);
    return targets;
  }
  // As the database's owner can.
  void tamper(const std::string& sql) {
    PgSession session({.conninfo = conninfo_});
    session.run("SET session_replication_role = replica; " + sql);
  }
  std::vector<std::string> differences() {
    const Result<LedgerReport> report = verify_ledger(conninfo_);
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    return report.is_ok() ? report.value().differences : std::vector<std::string>();
  }
  // Entries about job/FIRST to job/LAST.
  void fill(int last, int first = 1) {
    PgAuditLog log(loop_, conninfo_);
    for (int i = first; i <= last; ++i) {
      ASSERT_EQ(append(log, {entry(fmt::format("job/{}", i))}), ok());
    }
  }
  std::vector<int64_t> seqs() {
    std::vector<int64_t> seqs;
    for (const AuditRow& row : rows()) seqs.push_back(row.seq);
    return seqs;
  }
};

}  // namespace hai
