#include "server/setup/cluster_database.h"

#include "server/store/migrate.h"
#include "server/store/pg_session.h"

namespace hai {
namespace {

// Locked by no other work in this database (compare server/store).
constexpr const char* kClaimLock = "SELECT pg_advisory_xact_lock(68656973, 2028)";
PgOptions options_for(const std::string& conninfo) {
  return {.conninfo = conninfo,
          .connect_timeout = 5s,
          .statement_timeout = 60s,  // making a database copies files
          .check_schema = false};
}

// Of a PostgreSQL's socket; the port that libpq takes by itself is left out.
std::string socket_words(const LocalDatabase& database) {
  const std::string port = database.port == "5432" ? "" : " port=" + database.port;
  return "host=" + database.socket + port;
}

bool is_there(PgSession& session, const char* table, const char* column, const std::string& name) {
  const std::string sql =
      fmt::format("SELECT 1 FROM {} WHERE {} = {}", table, column, sql_quoted(name, '\''));
  return session.run(sql).size() > 0;
}

DatabaseFacts facts_of(PgSession& session) {
  DatabaseFacts facts{.is_there = true};
  const PgResult server = session.run(
      "SELECT current_setting('server_version_num'), pg_is_in_recovery(),"
      " to_regclass('schema_migration') IS NOT NULL, to_regclass('app_user') IS NOT NULL");
  facts.server_version = static_cast<int>(server.integer(0, 0));
  facts.is_replica = server.text(0, 1) == "t";
  if (server.text(0, 2) != "t") return facts;
  const PgResult schema = session.run(
      fmt::format("SELECT coalesce(max(version), 0), {} FROM schema_migration", kMarkSql));
  facts.schema = schema.integer(0, 0);
  facts.mark = parse_mark(std::string(schema.text(0, 1)));
  if (server.text(0, 3) == "t") {
    facts.has_people = session.run("SELECT 1 FROM app_user LIMIT 1").size() > 0;
  }
  return facts;
}

}  // namespace

std::string sql_quoted(std::string_view text, char mark) {
  std::string out(1, mark);
  for (const char c : text) {
    if (c == mark) out += mark;
    out += c;
  }
  return out + mark;
}

Result<DatabaseFacts> look_at_database(const std::string& conninfo) {
  PgSession session(options_for(conninfo));
  try {
    return facts_of(session);
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

Status claim_database(const std::string& conninfo, const ClusterMark& mark, bool is_adopted) {
  PgSession session(options_for(conninfo));
  try {
    session.run("BEGIN");  // rolled back where the session ends without COMMIT
    session.run(kClaimLock);
    session.run(kMigrationTable);  // the mark is its comment
    RETURN_IF_ERROR(judge_database(facts_of(session), mark.id, is_adopted));
    session.run("COMMENT ON TABLE schema_migration IS " + sql_quoted(format_mark(mark), '\''));
    session.run("COMMIT");
    return ok();
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

std::string administrator_conninfo(const LocalDatabase& database, const std::string& name) {
  return fmt::format("{} user=postgres dbname={}", socket_words(database), name);
}

std::string conninfo_of(const LocalDatabase& database) {
  return fmt::format("{} dbname={} user={}", socket_words(database), database.name, database.role);
}

Result<DatabaseFacts> look_at_local(const LocalDatabase& database) {
  PgSession session(options_for(administrator_conninfo(database)));
  try {
    if (!is_there(session, "pg_database", "datname", database.name)) {
      const PgResult version = session.run("SELECT current_setting('server_version_num')");
      return DatabaseFacts{.server_version = static_cast<int>(version.integer(0, 0))};
    }
  } catch (const PgError& error) {
    return unavailable(
        "postgres: {}: is PostgreSQL installed and running (apt-get install postgresql)? One that "
        "is elsewhere is named by --database",
        error.what());
  }
  return look_at_database(administrator_conninfo(database, database.name));
}

Status make_local(const LocalDatabase& database) {
  PgSession session(options_for(administrator_conninfo(database)));
  const std::string role = sql_quoted(database.role, '"');
  try {
    if (!is_there(session, "pg_roles", "rolname", database.role)) {
      session.run(fmt::format("CREATE ROLE {} LOGIN", role));
    }
    if (is_there(session, "pg_database", "datname", database.name)) return ok();
    // Sorted by bytes: another C library, with another order of letters, breaks no index.
    session.run(
        fmt::format("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8' "
                    "LC_COLLATE 'C' LC_CTYPE 'C'",
                    sql_quoted(database.name, '"'), role));
    return ok();
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

}  // namespace hai
