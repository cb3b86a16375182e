#include "server/store/cluster_mark.h"

#include <fmt/core.h>

#include <string_view>

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

std::string foreign_mark(const std::string& id, const std::string& comment) {
  const std::optional<ClusterMark> mark = parse_mark(comment);
  if (id.empty() || !mark || mark->id == id) return "";
  return fmt::format(
      "this is the database of another cluster, {} (id {}), and this server is of the one with id "
      "{}",
      mark->cluster, mark->id, id);
}

}  // namespace hai
