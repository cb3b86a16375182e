#include "server/store/migrate.h"

#include <chrono>
#include <thread>

#include "common/log.h"
#include "server/store/migrations.h"
#include "server/store/pg_session.h"

namespace hai {
namespace {

// "hai" and the year the table was made: any number that nobody else locks in this database.
constexpr const char* kMigrationLock = "SELECT pg_advisory_xact_lock(68656973, 2026)";

int64_t version_of(PgSession& session) {
  PgResult result = session.run("SELECT coalesce(max(version), 0) FROM schema_migration");
  return result.integer(0, 0);
}

void create_table(PgSession& session) {
  session.run("BEGIN");
  session.run(kMigrationLock);
  session.run(kMigrationTable);
  session.run("COMMIT");
}

// Whoever wants a table for himself, as ALTER TABLE does, has all others wait behind him, the
// leader with what people submit: so he gives up soon, and they go on before he tries again.
constexpr const char* kLockTimeout = "SET LOCAL lock_timeout = '1s'";
constexpr auto kLockPause = std::chrono::milliseconds(500);

// Another server may have applied it while this one waited for the lock.
void apply(PgSession& session, const Migration& migration) {
  session.run("BEGIN");
  session.run(kMigrationLock);
  if (version_of(session) < migration.version) {
    session.run(kLockTimeout);
    session.run(migration.sql);
    session.run(fmt::format("INSERT INTO schema_migration (version, name) VALUES ({}, '{}')",
                            migration.version, migration.name));
  }
  session.run("COMMIT");
}

// Who holds a table of those that the migration names.
std::string table_and_holder(PgSession& session, const Migration& migration) {
  const PgResult found = session.run(fmt::format(
      "SELECT c.relname, coalesce(nullif(a.application_name, ''), 'unnamed'), l.pid FROM pg_locks l"
      " JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid"
      " WHERE l.granted AND a.datname = current_database() AND c.relkind = 'r'"
      " AND c.relnamespace = current_schema()::regnamespace"
      " AND $migration${}$migration$ ~ ('\\m' || c.relname || '\\M')"
      " ORDER BY a.application_name = 'hai-server', a.backend_start, c.relname LIMIT 1",
      migration.sql));
  if (found.size() == 0) return "a backup or another session holds a table that is to be changed";
  return fmt::format("a backup or another session holds table {} ({}, process {})",
                     found.text(0, 0), found.text(0, 1), found.text(0, 2));
}

void apply_between_others(PgSession& session, const Migration& migration, Duration patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      return apply(session, migration);
    } catch (const PgLockTimeout&) {
      const std::string why = table_and_holder(session, migration);
      if (std::chrono::steady_clock::now() >= until) {
        throw PgError(
            fmt::format("{}, for {} now: let it end, or end it", why, format_duration(patience)));
      }
      log_warning("migration_waits", {{"step", migration.name}, {"reason", why + ": waiting"}});
      std::this_thread::sleep_for(kLockPause);
    }
  }
}

}  // namespace

Result<int64_t> schema_version(const std::string& conninfo) {
  PgSession session({.conninfo = conninfo, .connect_timeout = 5s, .check_schema = false});
  try {
    const PgResult table = session.run("SELECT to_regclass('schema_migration') IS NULL");
    return table.text(0, 0) == "t" ? 0 : version_of(session);
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

std::string schema_mismatch(int64_t found) {
  const int64_t wanted = latest_schema_version();
  if (found == wanted) return "";
  return fmt::format("the database has schema {}, this program needs {}: {}", found, wanted,
                     found < wanted ? "run hai-server migrate" : "use a newer program");
}

Status check_not_newer(int64_t version) {
  if (version <= latest_schema_version()) return ok();
  return failed_precondition(
      "the database has schema {}, this program knows up to {}: use a newer program", version,
      latest_schema_version());
}

Result<MigrateResult> migrate(const std::string& conninfo, Duration patience) {
  PgSession session({.conninfo = conninfo,
                     .connect_timeout = 5s,
                     .statement_timeout = 10min,  // an index over a long history takes its time
                     .check_schema = false});
  int64_t done = -1;  // not known
  try {
    create_table(session);
    MigrateResult result{.from = version_of(session), .to = latest_schema_version()};
    RETURN_IF_ERROR(check_not_newer(result.from));
    done = result.from;
    for (const Migration& migration : migrations()) {
      if (migration.version <= result.from) continue;
      apply_between_others(session, migration, patience);
      done = migration.version;
    }
    return result;
  } catch (const PgError& error) {
    if (done < 0) return unavailable("postgres: {}", error.what());
    return unavailable(
        "postgres: {}. The schema is at version {} of {}, and nothing is half done: run it again",
        error.what(), done, latest_schema_version());
  }
}

}  // namespace hai
