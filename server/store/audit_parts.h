#pragma once
// The parts of the audit log that left the table for files, as the database records them. All throw
// PgError.

#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "server/store/archive_part.h"
#include "server/store/audit_chain.h"

namespace hai {

struct AuditPart {
  ArchivedFile file;   // with which entries are in it
  UnixTime last_at{};  // the latest time of its entries
  std::string last_hash;

  AuditMark end() const { return {file.last_seq, last_hash}; }
};

// By seq.
std::vector<AuditPart> audit_parts(PgSession& session);
// The latest; none = nothing is archived.
std::optional<AuditPart> last_audit_part(PgSession& session);
// What the first entry in the table follows.
AuditMark audit_anchor(PgSession& session);

// What the audit log itself says of the part: an entry that is written with the record, so that the
// chain covers what left the table. `at`: when it was archived.
AuditEntry entry_of_part(const AuditPart& part, UnixTime at);

// One transaction, durable when it returns: at any moment each entry is either in the table or
// recorded to be in a file.
void record_audit_part(PgSession& session, const AuditPart& part);

}  // namespace hai
