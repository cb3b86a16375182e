#include "server/api/event_filter.h"

#include <algorithm>

namespace hai {

namespace {

bool is_about_people(const EventBody& body) {
  return std::holds_alternative<UserSet>(body) || std::holds_alternative<TokenSet>(body) ||
         std::holds_alternative<TokenRevoked>(body);
}

// An attempt is also about the nodes it is placed on.
bool concerns_node(const EventBody& body, NodeId node) {
  if (node_of(body) == node) return true;
  const auto* placed = std::get_if<AttemptPlaced>(&body);
  return placed != nullptr && std::ranges::any_of(placed->placement, [node](const auto& rank) {
           return rank.node == node;
         });
}

}  // namespace

Result<EventFilter> EventFilter::make(const ClusterState& state, const Actor& actor, JobId job,
                                      const std::string& node,
                                      const std::vector<std::string>& kinds) {
  EventFilter filter{.job = job, .sees_people = actor.is_operator()};
  filter.kinds.insert(kinds.begin(), kinds.end());
  if (!node.empty()) {
    const Node* known = state.find_node(node);
    if (known == nullptr) return not_found("node {} does not exist", node);
    filter.node = known->id;
  }
  return filter;
}

bool EventFilter::passes(const Event& event) const {
  if (job && job_of(event.body) != job) return false;
  if (node && !concerns_node(event.body, node)) return false;
  if (!kinds.empty() && !kinds.contains(kind_of(event.body))) return false;
  return sees_people || !is_about_people(event.body);
}

}  // namespace hai
