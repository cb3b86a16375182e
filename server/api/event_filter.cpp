#include "server/api/event_filter.h"

#include <algorithm>

#include "common/hostlist.h"
#include "common/nearest.h"
#include "common/text_check.h"
#include "server/api/nodes_by_name.h"

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
  const Result<std::vector<NodeId>> nodes = nodes_ever_called(state, names.value());
  RETURN_IF_ERROR(nodes.status());
  return std::set<NodeId>(nodes.value().begin(), nodes.value().end());
}

// Marks and incidents tell of jobs in words that say not whose they are.
bool tells_of_jobs(const EventBody& body) {
  return std::holds_alternative<NodeMarked>(body) || std::holds_alternative<IncidentOpened>(body) ||
         std::holds_alternative<IncidentChanged>(body) ||
         std::holds_alternative<IncidentClosed>(body) ||
         std::holds_alternative<IncidentNoted>(body);
}

// Knobs, too, whose list is operators' alone.
bool is_for_operators(const EventBody& body) {
  return has_trait(body, kAboutPeople) || std::holds_alternative<KnobSet>(body) ||
         std::holds_alternative<KnobUnset>(body);
}

bool is_seen(const Sight& sight, const EventBody& body, const std::string& owner) {
  if (!job_of(body)) return !(sight.misses_jobs() && tells_of_jobs(body));
  const Seen seen = sight.of(owner);
  return seen == Seen::row ? !is_program_word(body) : seen != Seen::nothing;
}

template <typename... Bodies>
std::vector<std::string> kinds_of(const std::variant<Bodies...>*) {
  return {std::string(Bodies::kKind)...};
}

Status check_kind(const std::string& kind) {
  static const auto kKinds = kinds_of(static_cast<const EventBody*>(nullptr));
  if (std::ranges::find(kKinds, kind) != kKinds.end()) return ok();
  const std::string shown = kind.substr(0, 64);
  const std::string near = nearest(shown, kKinds);
  return invalid_argument("kind: there are no events called '{}'{}", printable(shown),
                          near.empty() ? "" : "; did you mean " + near + "?");
}

}  // namespace

bool is_program_word(const EventBody& body) {
  return std::holds_alternative<CheckpointReported>(body) ||
         std::holds_alternative<LifeStateSet>(body);
}

std::string job_owner(const ClusterState& state, const EventBody& body) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&body)) return submitted->user;
  const auto* opened = std::get_if<IncidentOpened>(&body);
  const Job* job = state.find(opened == nullptr ? job_of(body) : job_of_incident(opened->subject));
  return job == nullptr ? "" : job->user;
}

Result<EventFilter> EventFilter::make(const ClusterState& state, const Actor& actor,
                                      const Sight& sight, JobId job, const std::string& owner,
                                      const std::string& nodes,
                                      const std::vector<std::string>& kinds) {
  EventFilter filter{
      .job = job, .sees_people = actor.is_operator(), .sight = sight, .owner = owner};
  for (const std::string& kind : kinds) {
    RETURN_IF_ERROR(check_kind(kind));
    filter.kinds.insert(kind);
  }
  Result<std::set<NodeId>> found = find_nodes(state, nodes);
  RETURN_IF_ERROR(found.status());
  filter.nodes = std::move(found).value();
  return filter;
}

std::string EventFilter::owner_of(const ClusterState& state, const Event& event) const {
  if (!sight.is_limited()) return "";
  return job && job_of(event.body) == job ? owner : job_owner(state, event.body);
}

bool EventFilter::passes(const ClusterState& state, const Event& event) const {
  return passes(event, owner_of(state, event));
}

bool EventFilter::passes(const Event& event, const std::string& whose) const {
  if (job && job_of(event.body) != job) return false;
  if (sight.is_limited() && !is_seen(sight, event.body, job ? owner : whose)) return false;
  if (!nodes.empty() && !concerns(event.body, nodes)) return false;
  if (!kinds.empty() && !kinds.contains(kind_of(event.body))) return false;
  return sees_people || !is_for_operators(event.body);
}

}  // namespace hai
