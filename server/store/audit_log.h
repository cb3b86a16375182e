#pragma once
// The audit log in PostgreSQL: a thread and a connection of its own, so that it never holds up an
// append of the state. Any server of the cluster writes, also one that does not lead; they take
// turns by a lock of the database. What was written is then exported.

#include <memory>
#include <string>

#include "common/loop.h"
#include "server/control/audit_port.h"
#include "server/store/audit_export.h"
#include "server/store/pg_session.h"

namespace hai {

class PgAuditLog final : public AuditLog {
 public:
  PgAuditLog(Loop& loop, std::string conninfo, AuditExportOptions exported = {});
  ~PgAuditLog() override;

  void append(std::vector<AuditEntry> entries, std::function<void(Status)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One transaction; throws PgError. The rows as they were written.
std::vector<AuditRow> append_audit(PgSession& session, const std::vector<AuditEntry>& entries);

std::vector<AuditRow> find_audit(PgSession& session, const AuditQuery& query);

// By seq, those after `after_seq`, at most `limit`.
std::vector<AuditRow> audit_page(PgSession& session, int64_t after_seq, int limit);

}  // namespace hai
