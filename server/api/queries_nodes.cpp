// Nodes and the cluster as a whole.

#include <algorithm>

#include "common/version.h"
#include "server/api/event_feed.h"
#include "server/api/queries.h"

namespace hai {

namespace {

bool matches(const Node& node, const NodeListRequest& request) {
  auto is = [](const std::string& wanted, std::string_view actual) {
    return wanted.empty() || wanted == actual;
  };
  return is(request.group, node.facts.group) && is(request.zone, node.facts.zone) &&
         is(request.leaf, node.facts.leaf) && is(request.liveness, to_string(node.liveness)) &&
         is(request.scheduling, to_string(node.scheduling)) && node.facts.name > request.after;
}

Status check_words(const NodeListRequest& request) {
  if (!request.liveness.empty() && !parse_enum<Liveness>(request.liveness)) {
    return invalid_argument("liveness is up, suspect or down, not {}", request.liveness);
  }
  if (!request.scheduling.empty() && !parse_enum<Scheduling>(request.scheduling)) {
    return invalid_argument("scheduling is open, cordoned, draining or drained, not {}",
                            request.scheduling);
  }
  if (request.limit < 1 || request.limit > kNodePageMax) {
    return invalid_argument("a page has 1 to {} nodes, {} asked", kNodePageMax, request.limit);
  }
  return ok();
}

}  // namespace

ClusterSummary summarize(const Controller::ReadContext& context) {
  ClusterSummary summary{.view = view_cluster(context.state, context.cluster),
                         .last_seq = context.state.last_seq(),
                         .version = std::string(version())};
  for (const auto& [id, node] : context.state.nodes()) {
    if (node.liveness == Liveness::up) continue;
    summary.gpus_broken += without(node.all_gpus(), node.used_gpus()).count();
  }
  summary.gpus_draining = summary.view.gpus_total - summary.view.gpus_used -
                          summary.view.gpus_free - summary.gpus_broken;
  return summary;
}

void Queries::get_node(const Caller& caller, const std::string& name, Done<NodeView> done) {
  controller_.read(
      caller,
      [name, done](const Controller::ReadContext& context, const Actor&) {
        const Node* node = context.state.find_node(name);
        if (node == nullptr) return done(not_found("node {} does not exist", name));
        done(view_node(*node));
      },
      done);
}

void Queries::list_nodes(const Caller& caller, const NodeListRequest& request,
                         Done<NodePage> done) {
  if (Status status = check_words(request); !status.is_ok()) return done(status);
  controller_.read(
      caller,
      [request, done](const Controller::ReadContext& context, const Actor&) {
        std::vector<const Node*> found;
        for (const auto& [id, node] : context.state.nodes()) {
          if (matches(node, request)) found.push_back(&node);
        }
        std::ranges::sort(found, {}, [](const Node* node) { return node->facts.name; });
        NodePage page;
        for (const Node* node : found) {
          if (page.nodes.size() == static_cast<size_t>(request.limit)) {
            page.next = page.nodes.back().node.facts.name;
            break;
          }
          page.nodes.push_back(view_node(*node));
        }
        done(std::move(page));
      },
      done);
}

void Queries::get_cluster(const Caller& caller, Done<ClusterSummary> done) {
  controller_.read(
      caller,
      [this, done](const Controller::ReadContext& context, const Actor&) {
        ClusterSummary summary = summarize(context);
        summary.epoch_started_at = feed_.epoch_started_at();
        done(std::move(summary));
      },
      done);
}

void Queries::list_incidents(const Caller& caller, Done<std::vector<IncidentView>> done) {
  controller_.read(
      caller,
      [done](const Controller::ReadContext& context, const Actor&) {
        std::vector<IncidentView> views;
        for (const auto& [id, incident] : context.state.incidents()) {
          IncidentView& view = views.emplace_back(IncidentView{incident, {}});
          for (NodeId node : incident.nodes) {
            view.nodes.push_back(context.state.find(node)->facts.name);
          }
        }
        done(std::move(views));
      },
      done);
}

}  // namespace hai
