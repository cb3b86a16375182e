#include "server/api/nodes_by_name.h"

#include <set>
#include <string_view>

#include "common/hostlist.h"

namespace hai {
namespace {

constexpr size_t kTextMax = 500;

}  // namespace

Result<std::vector<NodeId>> nodes_ever_called(const ClusterState& state,
                                              const std::vector<std::string>& names) {
  std::set<std::string_view> unknown(names.begin(), names.end());
  const std::set<std::string_view> wanted = unknown;
  std::vector<NodeId> found;
  for (const auto& [id, node] : state.nodes()) {
    if (!wanted.contains(node.facts.name)) continue;
    unknown.erase(node.facts.name);
    found.push_back(id);
  }
  if (!unknown.empty()) return unknown_nodes({unknown.begin(), unknown.end()});
  return found;
}

Status unknown_nodes(std::vector<std::string> names, std::string_view and_so) {
  const bool is_one = names.size() == 1;
  std::string list = format_hostlist(std::move(names));
  if (list.size() > kTextMax) list = list.substr(0, kTextMax) + "…";
  return not_found("node{} {} do{} not exist{}{}", is_one ? "" : "s", list, is_one ? "es" : "",
                   and_so.empty() ? "" : ": ", and_so);
}

}  // namespace hai
