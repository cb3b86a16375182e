#pragma once
// Whose a database is: its mark is the comment of table schema_migration. Dumps carry it, and it
// needs no schema of its own.

#include <optional>
#include <string>

namespace hai {

struct ClusterMark {
  std::string id;       // random, made once for each cluster
  std::string cluster;  // its name, for people
  bool operator==(const ClusterMark&) const = default;
};
std::string format_mark(const ClusterMark& mark);
std::optional<ClusterMark> parse_mark(const std::string& text);
// An expression of SQL: the comment, '' where there is none.
inline constexpr const char* kMarkSql =
    "coalesce(obj_description(to_regclass('schema_migration'), 'pg_class'), '')";

// Why a server of cluster `id` must not serve from a database with this comment; "" if it may, as
// where nobody has marked it, or `id` is "": nobody knows.
std::string foreign_mark(const std::string& id, const std::string& comment);
inline constexpr const char* kForeignRemedy =
    "name its own database in store.conninfo; or, if a dump of that cluster was restored here on "
    "purpose, bring that cluster's /etc/hai here, too";

}  // namespace hai
