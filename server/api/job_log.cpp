#include "server/api/job_log.h"

#include "common/hostlist.h"
#include "common/log.h"

namespace hai {
namespace {

constexpr size_t kNodesTextMax = 200;

std::string nodes_of(const Placement& placement, const ClusterState& state) {
  std::vector<std::string> names;
  for (const RankPlacement& rank : placement) {
    const Node* node = state.find(rank.node);
    if (node != nullptr) names.push_back(node->facts.name);
  }
  std::string text = format_hostlist(std::move(names));
  if (text.size() > kNodesTextMax) text = text.substr(0, kNodesTextMax) + "…";
  return text;
}

struct Line {
  const ClusterState& state;

  void operator()(const JobSubmitted& event) const {
    log_info(JobSubmitted::kKind,
             {{"job", event.job}, {"user", event.user}, {"name", event.spec->name}});
  }
  void operator()(const AttemptPlaced& event) const {
    log_info(AttemptPlaced::kKind, {{"job", event.job},
                                    {"attempt", event.attempt},
                                    {"nodes", nodes_of(event.placement, state)}});
  }
  void operator()(const AttemptEnded& event) const {
    log_info(AttemptEnded::kKind, {{"job", event.job},
                                   {"attempt", event.attempt},
                                   {"outcome", to_string(event.outcome)},
                                   {"reason", event.reason}});
  }
  void operator()(const JobFinished& event) const {
    log_info(JobFinished::kKind, {{"job", event.job},
                                  {"state", to_string(event.state)},
                                  {"exit_code", event.exit_code},
                                  {"reason", event.reason}});
  }
  void operator()(const auto&) const {}
};

}  // namespace

void log_jobs(const std::vector<Event>& durable, const ClusterState& state) {
  for (const Event& event : durable) std::visit(Line{state}, event.body);
}

}  // namespace hai
