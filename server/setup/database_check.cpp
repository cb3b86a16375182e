#include "server/setup/database_check.h"

#include "common/doctor/judge.h"
#include "common/doctor/look.h"
#include "server/setup/cluster_database.h"
#include "server/store/conninfo.h"
#include "server/store/migrations.h"
#include "server/store/pg_session.h"

namespace hai {
namespace {

DatabaseHealth ask(PgSession& session) {
  const UnixTime before = clock_now();
  const PgResult row = session.run(
      "SELECT current_setting('server_version_num'), pg_is_in_recovery(),"
      " current_setting('transaction_read_only'), (SELECT count(*) FROM pg_stat_replication),"
      " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,"
      " to_regclass('schema_migration') IS NOT NULL");
  const UnixTime after = clock_now();
  DatabaseHealth health{.server_version = static_cast<int>(row.integer(0, 0)),
                        .is_replica = row.text(0, 1) == "t",
                        .is_read_only = row.text(0, 2) == "on",
                        .replicas = row.integer(0, 3)};
  // It looked at its clock about half-way between.
  health.clock_ahead = before + (after - before) / 2 - unix_micros(row.integer(0, 4));
  if (row.text(0, 5) == "t") {
    health.schema =
        session.run("SELECT coalesce(max(version), 0) FROM schema_migration").integer(0, 0);
  }
  return health;
}

Finding judge_schema(int64_t schema) {
  const int64_t wanted = latest_schema_version();
  const std::string found = fmt::format("schema {}, this program has {}", schema, wanted);
  if (schema == wanted) return all_well(fmt::format("schema {}", schema));
  return schema < wanted ? failure(found, "runuser -u hai -- hai-server migrate")
                         : failure(found, "install the newer version of hai-server here, too");
}

Finding judge_writable(const std::string& where, const DatabaseHealth& health) {
  if (const auto fault = fault_of_replica(health.is_replica)) {
    return failure(where + " is " + fault->found, fault->remedy);
  }
  if (health.is_read_only) {
    return failure(where + " takes no changes (default_transaction_read_only)",
                   "ALTER DATABASE … RESET default_transaction_read_only");
  }
  return all_well("writable");
}

}  // namespace

std::vector<Finding> judge_database_health(const std::string& where, const DatabaseHealth& health) {
  std::vector<Finding> findings;
  const auto fault = fault_of_version(health.server_version);
  findings.push_back(fault ? failure(fault->found, fault->remedy)
                           : all_well(fmt::format(
                                 "{} at {}", postgres_version_text(health.server_version), where)));
  findings.push_back(judge_schema(health.schema));
  findings.push_back(judge_writable(where, health));
  if (!health.is_replica && health.replicas == 0) {
    findings.push_back(warning("has no replica: with its disk the cluster's state is lost",
                               "set up streaming replication, and keep backups"));
  } else if (!health.is_replica) {
    findings.push_back(all_well(fmt::format("{} replicas stream from it", health.replicas)));
  }
  findings.push_back(judge_clock_difference("the database", health.clock_ahead));
  return findings;
}

Finding judge_transport(const std::string& conninfo) {
  if (const auto fault = fault_of_transport(conninfo)) return warning(fault->found, fault->remedy);
  return all_well(is_local_conninfo(conninfo) ? "on this machine" : "reached by TLS");
}

std::vector<Finding> look_at_database_health(const std::string& conninfo,
                                             const std::string& cluster_id) {
  PgSession session({.conninfo = conninfo, .connect_timeout = 3s, .check_schema = false});
  try {
    std::vector<Finding> findings = judge_database_health(shown_conninfo(conninfo), ask(session));
    const PgResult comment = session.run(std::string("SELECT ") + kMarkSql);
    const std::string foreign = foreign_mark(cluster_id, std::string(comment.text(0, 0)));
    if (!foreign.empty()) findings.push_back(failure(foreign, kForeignRemedy));
    findings.push_back(judge_transport(conninfo));
    return findings;
  } catch (const PgError& error) {
    return {failure(fmt::format("postgres: {}", error.what()),
                    "is it running, and does pg_hba.conf let this user and machine in?")};
  }
}

}  // namespace hai
