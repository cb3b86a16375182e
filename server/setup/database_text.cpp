// What is said of a database, as text and from text; nothing here connects.

#include <map>
#include <sstream>

#include "common/host_port.h"
#include "server/setup/cluster_database.h"
#include "server/store/conninfo.h"
#include "server/store/migrations.h"

namespace hai {
namespace {

constexpr int kOldestVersion = 15;

}  // namespace

std::string format_facts(const DatabaseFacts& facts) {
  return fmt::format("{:d} {} {:d} {} {:d}\n{}", facts.is_there, facts.server_version,
                     facts.is_replica, facts.schema, facts.has_people,
                     facts.mark ? format_mark(*facts.mark) : "");
}

Result<DatabaseFacts> parse_facts(const std::string& text) {
  std::istringstream in(text);
  DatabaseFacts facts;
  in >> facts.is_there >> facts.server_version >> facts.is_replica >> facts.schema >>
      facts.has_people;
  if (!in) return internal("no facts of a database: {}", text);
  std::string mark;
  std::getline(in, mark);
  std::getline(in, mark);
  facts.mark = parse_mark(mark);
  return facts;
}

std::string postgres_version_text(int server_version) {
  return fmt::format("PostgreSQL {}.{}", server_version / 10'000, server_version % 10'000);
}

std::optional<DatabaseFault> fault_of_version(int server_version) {
  if (server_version / 10'000 >= kOldestVersion) return std::nullopt;
  return DatabaseFault{.found = postgres_version_text(server_version),
                       .remedy = fmt::format("move it to PostgreSQL {} or newer", kOldestVersion)};
}

std::optional<DatabaseFault> fault_of_replica(bool is_replica) {
  if (!is_replica) return std::nullopt;
  return DatabaseFault{
      .found = "a replica, which can only be read",
      .remedy = "name the primary, or all of them with target_session_attrs=read-write"};
}

std::optional<DatabaseFault> fault_of_transport(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok() || is_local_conninfo(conninfo)) return std::nullopt;
  const std::string mode = words.value()["sslmode"];
  if (mode == "require" || mode.starts_with("verify-")) return std::nullopt;
  return DatabaseFault{
      .found = fmt::format("the database is on another machine, and {}: what is said to it can be "
                           "read and changed on the way",
                           mode.empty() ? "no sslmode is set" : "sslmode=" + mode),
      .remedy =
          "add sslmode=verify-full and sslrootcert=FILE, the CA of its certificate, to "
          "store.conninfo, or at least sslmode=require"};
}

bool is_founded(const DatabaseFacts& facts) { return facts.mark && facts.schema > 0; }

Status judge_database(const DatabaseFacts& facts, const std::string& id, bool is_adopted) {
  for (const auto& fault :
       {fault_of_version(facts.server_version), fault_of_replica(facts.is_replica)}) {
    if (fault) return failed_precondition("the database is {}: {}", fault->found, fault->remedy);
  }
  if (facts.mark && facts.mark->id != id) {
    return failed_precondition(
        "the database belongs to another cluster, {}: name another database; to set up a further "
        "server of that cluster, take its bundle: `hai-server setup --export-bundle FILE` there, "
        "`hai-server setup --bundle FILE` here",
        facts.mark->cluster);
  }
  if (!facts.mark && facts.has_people && !is_adopted) {
    return failed_precondition(
        "the database has a cluster already, and nothing here says that it is this one: name "
        "another database, or put that cluster's server.yaml in place and run this again");
  }
  return ok();
}

Status judge_schema(const DatabaseFacts& facts) {
  if (!is_founded(facts) || facts.schema >= latest_schema_version()) return ok();
  return failed_precondition(
      "the cluster's database has schema {}, and this hai-server needs {}: upgrade the other "
      "servers first (docs/operations/upgrade.md), and run this again",
      facts.schema, latest_schema_version());
}

Status check_conninfo(const std::string& conninfo, const std::string& what) {
  const Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok()) return invalid_argument("{}: {}", what, words.status().message());
  if (!words.value().contains("password")) return ok();
  return invalid_argument(
      "{}: has a password, which everybody could read in the config: write it into a file of mode "
      "0600 (HOST:5432:DATABASE:USER:PASSWORD) that the server's user owns, and say "
      "passfile=/etc/hai/pgpass instead",
      what);
}

bool is_local_conninfo(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok()) return false;
  const std::string& hosts = words.value()["hostaddr"];
  std::istringstream all(hosts.empty() ? words.value()["host"] : hosts);
  for (std::string host; std::getline(all, host, ',');) {
    if (!host.empty() && !host.starts_with('/') && !is_loopback(host)) return false;
  }
  return true;
}

}  // namespace hai
