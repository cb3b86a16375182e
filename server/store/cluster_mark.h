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

// Why a server of cluster `id` must not serve from a database with this comment; "" if it may, as
// where nobody has marked it.
std::string foreign_mark(const std::string& id, const std::string& comment);

}  // namespace hai
