#pragma once
// The part of the ledger check about the audit log: the chain through the archived files and on
// through the table.

#include <functional>
#include <string>

#include "server/store/audit_chain.h"
#include "server/store/pg_session.h"
#include "server/store/verify.h"

namespace hai {

// Adds all entries of a file of hai-server archive. What is wrong with the first that does not fit;
// "" = nothing. An error for a file that can't be read as such. `seen` gets each entry.
Result<std::string> add_audit_file(const std::string& path, AuditChain& chain,
                                   const std::function<void(const AuditRow&)>& seen = nullptr);

// Only the first break is told of each file and of the table: every entry after a change would be
// another one. Without `archive_dir` the chain begins after the last archived entry, and what an
// entry of the log says of that part must be what the database has recorded. Throws PgError.
void check_audit(PgSession& session, const std::string& archive_dir, LedgerReport& report);

}  // namespace hai
