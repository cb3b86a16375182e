#pragma once
// The part of hai-server archive that is about the audit log: its old entries go into files, and
// the chain goes on from the last of them.
//
//   write NAME.partial ─▶ fsync ─▶ read and check ─▶ record, and delete the rows ─▶ rename to NAME
//
// From the record on the file is the only copy of its entries, also while it is called .partial.
// A run that dies anywhere loses nothing. The newest entry always stays, so that who takes away the
// whole table is found out.

#include "server/store/archive.h"
#include "server/store/archive_steps.h"
#include "server/store/audit_parts.h"

namespace hai {

// All throw PgError. Whoever uses it has the lock of the archive.
class AuditArchiver {
 public:
  AuditArchiver(PgSession& session, const ArchiveOptions& options, const ArchiveSteps& steps)
      : session_(session), options_(options), steps_(steps) {}

  // Gives the files of runs that died their names. `failed_precondition` if entries are to be moved
  // and the folder does not have the last part: it is another folder, or that file was lost.
  Status complete_earlier() const;
  // `data_loss` for entries that are not those that were written, and for a file that is not what
  // was written: nothing of that part is moved.
  Status run(ArchiveResult& result) const;

 private:
  Result<AuditPart> write(int64_t first, int64_t last) const;
  Status copy(AuditPart& part, AuditChain& chain, const std::string& path) const;
  Status read_again(const std::string& path, const AuditMark& start,
                    const AuditChain& written) const;

  PgSession& session_;
  const ArchiveOptions& options_;
  const ArchiveSteps& steps_;
};

}  // namespace hai
