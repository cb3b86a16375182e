// What is said of a database, as text and from text; nothing here connects.

#include <map>
#include <sstream>

#include "common/host_port.h"
#include "server/setup/cluster_database.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

constexpr std::string_view kMark = "hai cluster ";

}  // namespace

std::string format_mark(const ClusterMark& mark) {
  return fmt::format("{}{} {}", kMark, mark.id, mark.cluster);
}

std::optional<ClusterMark> parse_mark(const std::string& text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  const std::string rest = text.substr(kMark.size());
  const size_t blank = rest.find(' ');
  if (blank == std::string::npos || blank == 0) return std::nullopt;
  return ClusterMark{.id = rest.substr(0, blank), .cluster = rest.substr(blank + 1)};
}

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

Status check_conninfo(const std::string& conninfo) {
  const Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok()) return invalid_argument("--database: {}", words.status().message());
  if (!words.value().contains("password")) return ok();
  return invalid_argument(
      "--database: has a password, which everybody could read in the config: write it into a file "
      "of mode 0600 (HOST:5432:DATABASE:USER:PASSWORD) that the server's user owns, and say "
      "passfile=/etc/hai/pgpass instead");
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
