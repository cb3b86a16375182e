#include "cli/node_names.h"

#include <set>

#include "common/hostlist.h"

namespace hai::cli {

Result<std::vector<std::string>> parse_node_names(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    Result<std::vector<std::string>> part = parse_hostlist(text);
    RETURN_IF_ERROR(part.status());
    for (std::string& name : part.value()) {
      if (seen.insert(name).second) names.push_back(std::move(name));
    }
    if (names.size() > kHostlistNamesMax) {
      return invalid_argument("more than {} nodes", kHostlistNamesMax);
    }
  }
  return names;
}

Status unknown_nodes(const std::vector<std::string>& names) {
  const bool is_one = names.size() == 1;
  return not_found("node{} {} do{} not exist", is_one ? "" : "s", format_hostlist(names),
                   is_one ? "es" : "");
}

Status keep_named(const std::vector<std::string>& names, std::vector<v1::Node>& nodes) {
  if (names.empty()) return ok();
  std::set<std::string> wanted(names.begin(), names.end());
  std::vector<v1::Node> kept;
  for (v1::Node& node : nodes) {
    if (wanted.erase(node.name()) > 0) kept.push_back(std::move(node));
  }
  if (!wanted.empty()) return unknown_nodes({wanted.begin(), wanted.end()});
  nodes = std::move(kept);
  return ok();
}

}  // namespace hai::cli
