#pragma once
// Brings a database to this program's schema. Each migration is one transaction; a lock makes
// several servers that start at once take turns. Blocks; called before the loop runs.

#include <cstdint>
#include <string>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// Of what has been applied. A setup makes it, too, to mark a database before anything is applied.
inline constexpr const char* kMigrationTable =
    "CREATE TABLE IF NOT EXISTS schema_migration (version bigint PRIMARY KEY, name text NOT NULL,"
    " applied_at timestamptz NOT NULL DEFAULT now())";

struct MigrateResult {
  int64_t from = 0;  // versions; 0 = an empty database
  int64_t to = 0;
};

// The schema's version; 0 = an empty database. Changes nothing. `unavailable` if it cannot be
// asked.
Result<int64_t> schema_version(const std::string& conninfo);
// `failed_precondition` if a schema of this version is newer than this program.
Status check_not_newer(int64_t version);

// A table that another session holds, as a backup does, is waited for in short tries, between which
// the statements of others go through; for so long at each step. `failed_precondition` if the
// database is newer than this program; `unavailable` otherwise.
Result<MigrateResult> migrate(const std::string& conninfo, Duration patience = 10min);

}  // namespace hai
