#include "server/api/event_filter.h"

#include <algorithm>

#include "common/hostlist.h"
#include "server/api/unknown_nodes.h"

namespace hai {

namespace {

// An attempt is also about the nodes it is placed on.
bool concerns(const EventBody& body, const std::set<NodeId>& nodes) {
  if (nodes.contains(node_of(body))) return true;
  const auto* placed = std::get_if<AttemptPlaced>(&body);
  return placed != nullptr && std::ranges::any_of(placed->placement, [&](const auto& rank) {
           return nodes.contains(rank.node);
         });
}

Result<std::set<NodeId>> find_nodes(const ClusterState& state, const std::string& list) {
  const Result<std::vector<std::string>> names = parse_hostlist(list);
  RETURN_IF_ERROR(names.status());
  std::set<NodeId> nodes;
  std::vector<std::string> unknown;
  for (const std::string& name : names.value()) {
    const Node* node = state.find_node(name);
    if (node == nullptr) {
      unknown.push_back(name);
    } else {
      nodes.insert(node->id);
    }
  }
  if (!unknown.empty()) return unknown_nodes(std::move(unknown));
  return nodes;
}

}  // namespace

Result<EventFilter> EventFilter::make(const ClusterState& state, const Actor& actor, JobId job,
                                      const std::string& nodes,
                                      const std::vector<std::string>& kinds) {
  EventFilter filter{.job = job, .sees_people = actor.is_operator()};
  filter.kinds.insert(kinds.begin(), kinds.end());
  Result<std::set<NodeId>> found = find_nodes(state, nodes);
  RETURN_IF_ERROR(found.status());
  filter.nodes = std::move(found).value();
  return filter;
}

bool EventFilter::passes(const Event& event) const {
  if (job && job_of(event.body) != job) return false;
  if (!nodes.empty() && !concerns(event.body, nodes)) return false;
  if (!kinds.empty() && !kinds.contains(kind_of(event.body))) return false;
  return sees_people || !has_trait(event.body, kAboutPeople);
}

}  // namespace hai
