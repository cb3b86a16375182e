#pragma once
// The database of a cluster while the cluster is set up: whose it is (server/store/cluster_mark.h),
// and making it.

#include <optional>
#include <string>

#include "common/status.h"
#include "server/store/cluster_mark.h"

namespace hai {

struct DatabaseFacts {
  bool is_there = false;   // false only for one on this machine that is still to be made
  int server_version = 0;  // as PostgreSQL counts: 150'004 is 15.4
  bool is_replica = false;
  int64_t schema = 0;  // 0 = empty
  bool has_people = false;
  std::optional<ClusterMark> mark;
  bool operator==(const DatabaseFacts&) const = default;
};
std::string format_facts(const DatabaseFacts& facts);
Result<DatabaseFacts> parse_facts(const std::string& text);

// Why a PostgreSQL will not do for any cluster, and what to do.
struct DatabaseFault {
  std::string found;
  std::string remedy;
};
std::string postgres_version_text(int server_version);
std::optional<DatabaseFault> fault_of_version(int server_version);
std::optional<DatabaseFault> fault_of_replica(bool is_replica);
// Of one on another machine, with which whoever stands between may have libpq speak plain text.
std::optional<DatabaseFault> fault_of_transport(const std::string& conninfo);

// Whether its cluster has got as far as the schema, before which a setup makes all keys: one that
// was cut off between the two has a mark and nothing else.
bool is_founded(const DatabaseFacts& facts);
// Whether the cluster with this id may have the database. `is_adopted`: a config that is in use
// here names it, so one that is not marked yet is this cluster's.
Status judge_database(const DatabaseFacts& facts, const std::string& id, bool is_adopted);
// Whether a further server of this version may come to it: one that is newer than the others would
// raise the schema under them.
Status judge_schema(const DatabaseFacts& facts);
// Refuses passwords: the config is for everybody to read, and a password belongs in a passfile.
// `what` names where it stands.
Status check_conninfo(const std::string& conninfo, const std::string& what = "--database");
// Whether other machines cannot reach it: a socket, a loopback address, or no host at all.
bool is_local_conninfo(const std::string& conninfo);

// These connect. `unavailable` with PostgreSQL's words.
Result<DatabaseFacts> look_at_database(const std::string& conninfo);
// Marks it unless judge_database() refuses it. Of several setups at once one gets an empty
// database, and the others are refused as they would be later.
Status claim_database(const std::string& conninfo, const ClusterMark& mark, bool is_adopted);

// A name or a text for SQL; those come from people.
std::string sql_quoted(std::string_view text, char mark);

// Of a PostgreSQL on this machine, as its administrator.
struct LocalDatabase {
  std::string socket;  // folder
  std::string role;
  std::string name;
  std::string port = "5432";  // by which its socket is called
};
// By which PostgreSQL's administrator reaches one of the databases there.
std::string administrator_conninfo(const LocalDatabase& database,
                                   const std::string& name = "postgres");
std::string conninfo_of(const LocalDatabase& database);
Result<DatabaseFacts> look_at_local(const LocalDatabase& database);
// Makes role and database unless they are there.
Status make_local(const LocalDatabase& database);

}  // namespace hai
