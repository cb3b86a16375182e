#include "server/control/node_names.h"

#include "common/hostlist.h"

namespace hai {
namespace {

constexpr size_t kNamesMax = 20;
constexpr size_t kTextMax = 200;

}  // namespace

std::string leaf_of(const Node& node) { return node.facts.zone + '/' + node.facts.leaf; }

std::string names_of(const ClusterState& state, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (NodeId id : nodes) names.push_back(state.find(id)->facts.name);
  const std::string text = format_hostlist(names);
  return names.size() > kNamesMax && text.size() > kTextMax ? text.substr(0, kTextMax) + "…" : text;
}

}  // namespace hai
