#pragma once
// The audit log in PostgreSQL: a thread and a connection of its own, so that it never holds up an
// append of the state. Any server of the cluster writes, also one that does not lead; they take
// turns by a lock of the database. What anybody has written is then exported.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/loop.h"
#include "server/control/audit_port.h"
#include "server/store/audit_export.h"
#include "server/store/pg_session.h"

namespace hai {

class PgAuditLog final : public AuditLog {
 public:
  PgAuditLog(Loop& loop, std::string conninfo, const AuditExportOptions& exported = {});
  ~PgAuditLog() override;

  void append(std::vector<AuditEntry> entries, std::function<void(Status)> done) override;

  // How many entries each place of the export lacks, as of at most some seconds ago; empty = none
  // is configured. Any thread.
  std::map<std::string, int64_t> not_exported() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One transaction; throws PgError. The rows as they were written.
std::vector<AuditRow> append_audit(PgSession& session, const std::vector<AuditEntry>& entries);

// The same within the transaction that has begun, READ COMMITTED; others' appends wait for its end.
std::vector<AuditRow> add_audit(PgSession& session, const std::vector<AuditEntry>& entries);

// `not_found` where a page is asked for that lies wholly in the archive.
Result<std::vector<AuditRow>> find_audit(PgSession& session, const AuditQuery& query);

// By seq, those after `after_seq`, at most `limit`.
std::vector<AuditRow> audit_page(PgSession& session, int64_t after_seq, int limit);

// The latest of `marks` that this database has too, in the table or as the end of an archived part.
std::optional<AuditMark> last_common_mark(PgSession& session, const std::vector<AuditMark>& marks);

// The newest entry, also where all are archived; seq 0 = there is none.
AuditMark last_audit_mark(PgSession& session);

}  // namespace hai
