// Nodes and the cluster as a whole.

#include <fmt/core.h>

#include <algorithm>

#include "common/version.h"
#include "server/api/event_feed.h"
#include "server/api/job_census.h"
#include "server/api/nodes_by_name.h"
#include "server/api/queries.h"
#include "server/api/text_limits.h"
#include "server/api/words.h"

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
  if (!request.liveness.empty()) {
    RETURN_IF_ERROR(kLivenesses.read("liveness", request.liveness).status());
  }
  if (!request.scheduling.empty()) {
    RETURN_IF_ERROR(kSchedulings.read("scheduling", request.scheduling).status());
  }
  if (request.limit < 1 || request.limit > kNodePageMax) {
    return invalid_argument("a page has 1 to {} nodes, {} asked", kNodePageMax, request.limit);
  }
  return ok();
}

// Without the names of jobs in the reasons. Numbers stay: they say that GPUs are taken.
NodeView visible_node(NodeView view, const Sight& sight) {
  if (!sight.misses_jobs()) return view;
  for (std::string* text : {&view.node.scheduling_reason, &view.node.liveness_reason,
                            &view.node.health.repair.reason, &view.lemon_text}) {
    *text = sight.clean(std::move(*text));
  }
  return view;
}

}  // namespace

int64_t ClusterSummary::jobs(const std::string& state) const {
  const auto found = view.jobs_by_state.find(state);
  return found == view.jobs_by_state.end() ? 0 : found->second;
}

ClusterSummary summarize(const Controller::ReadContext& context) {
  ClusterSummary summary{.view = view_cluster(context.state, context.cluster),
                         .last_seq = context.state.last_seq(),
                         .version = std::string(version())};
  for (const auto& [id, node] : context.state.nodes()) {
    if (node.removed_at) continue;
    if (node.liveness == Liveness::up) {
      summary.gpus_reserved += without(node.held_gpus(), node.used_gpus()).count();
    } else {
      summary.gpus_broken += without(node.all_gpus(), node.used_gpus()).count();
      summary.gpus_unheard += node.used_gpus().count();
    }
  }
  // An array is as many jobs as it has tasks; those that are made are among the jobs already.
  for (const auto& [id, range] : context.state.unfinished_arrays()) {
    const Job& array = *context.state.find(id);
    --summary.view.jobs_by_state[std::string(to_string(array.state))];
    summary.view.jobs_by_state["queued"] += tasks_to_come(array, range);
  }
  std::erase_if(summary.view.jobs_by_state, [](const auto& each) { return each.second == 0; });
  summary.gpus_draining = summary.view.gpus_total - summary.view.gpus_used -
                          summary.view.gpus_free - summary.gpus_reserved - summary.gpus_broken;
  return summary;
}

void Queries::get_node(const Caller& caller, const std::string& name, Done<NodeView> done) {
  controller_.read(
      caller,
      [this, name, done](const Controller::ReadContext& context, const Actor& actor) {
        const Node* node = context.state.find_node(name);
        if (node == nullptr) return done(not_found("node {} does not exist", asked_name(name)));
        done(visible_node(view_node(*node, context.soft), sight_of(context.state, actor)));
      },
      done);
}

void Queries::list_nodes(const Caller& caller, const NodeListRequest& request,
                         Done<NodePage> done) {
  if (Status status = check_words(request); !status.is_ok()) return done(status);
  controller_.read(
      caller,
      [this, request, done](const Controller::ReadContext& context, const Actor& actor) {
        const Sight sight = sight_of(context.state, actor);
        std::vector<const Node*> found;
        for (const auto& [id, node] : context.state.nodes()) {
          if (!node.removed_at && matches(node, request)) found.push_back(&node);
        }
        std::ranges::sort(found, {}, [](const Node* node) { return node->facts.name; });
        NodePage page;
        SoftFacts soft = context.soft;
        soft.sessions = nullptr;  // of many nodes only the checks that are not well
        for (const Node* node : found) {
          if (page.nodes.size() == static_cast<size_t>(request.limit)) {
            page.next = page.nodes.back().node.facts.name;
            break;
          }
          page.nodes.push_back(visible_node(view_node(*node, soft), sight));
        }
        done(std::move(page));
      },
      done);
}

void Queries::list_node_jobs(const Caller& caller, const std::string& name, int limit,
                             Done<std::vector<NodeStay>> done) {
  controller_.read(
      caller,
      [this, name, limit, done](const Controller::ReadContext& context, const Actor& actor) {
        // The newest of that name, which may have been removed.
        const Result<std::vector<NodeId>> nodes = nodes_ever_called(context.state, {name});
        if (!nodes.is_ok()) return done(nodes.status());
        if (history_ == nullptr) return done(std::vector<NodeStay>{});
        if (context.stale_since) {
          return done(unavailable("who was on a node is in the database, which cannot be reached"));
        }
        // With others' left out, a page may come out short.
        history_->stays(
            nodes.value().back(), limit,
            [sight = sight_of(context.state, actor), done](Result<std::vector<NodeStay>> stays) {
              if (!stays.is_ok()) return done(stays.status());
              std::vector<NodeStay> seen = std::move(stays).value();
              std::erase_if(seen, [&](const NodeStay& stay) { return !sight.sees(stay.user); });
              for (NodeStay& stay : seen) {
                if (sight.of(stay.user) < Seen::program) stay.end_reason.clear();
                stay.end_reason = sight.clean(std::move(stay.end_reason));
              }
              done(std::move(seen));
            });
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

namespace {

IncidentView view_incident(const ClusterState& state, const Incident& incident,
                           const Sight& sight) {
  IncidentView view{incident, {}};
  if (const JobId id = job_of_incident(incident.subject)) {
    const Job* job = state.find(id);
    const Seen seen = sight.of(job == nullptr ? "" : job->user);
    if (seen < Seen::program) view.incident.summary = row_of_hang(incident.summary);
  }
  view.incident.summary = sight.clean(std::move(view.incident.summary));
  for (IncidentNote& note : view.incident.notes) note.text = sight.clean(std::move(note.text));
  for (NodeId id : incident.nodes) {
    const Node* node = state.find(id);
    view.nodes.push_back(node == nullptr ? fmt::format("#{}", id.value) : node->facts.name);
  }
  return view;
}

}  // namespace

void Queries::list_incidents(const Caller& caller, const IncidentListRequest& request,
                             Done<IncidentPage> done) {
  if (request.closed) return closed_incidents(caller, request, std::move(done));
  controller_.read(
      caller,
      [this, done](const Controller::ReadContext& context, const Actor& actor) {
        const Sight sight = sight_of(context.state, actor);
        IncidentPage page;
        for (const auto& [id, incident] : context.state.incidents()) {
          page.incidents.push_back(view_incident(context.state, incident, sight));
        }
        done(std::move(page));
      },
      done);
}

void Queries::closed_incidents(const Caller& caller, const IncidentListRequest& request,
                               Done<IncidentPage> done) {
  auto show = [this, caller, request, done](Result<std::vector<Incident>> incidents) {
    if (!incidents.is_ok()) return done(incidents.status());
    controller_.read(
        caller,
        [this, request, done, incidents = std::move(incidents).value()](
            const Controller::ReadContext& context, const Actor& actor) {
          const Sight sight = sight_of(context.state, actor);
          IncidentPage page;
          for (const Incident& incident : incidents) {
            page.incidents.push_back(view_incident(context.state, incident, sight));
          }
          const bool is_full = incidents.size() == static_cast<size_t>(request.limit);
          if (is_full) page.next = incidents.back().id;
          done(std::move(page));
        },
        done);
  };
  // Who may ask is known only here; the history does not know people.
  controller_.read(
      caller,
      [this, request, show, done](const Controller::ReadContext& context, const Actor&) {
        if (history_ == nullptr) return done(IncidentPage{});
        if (context.stale_since) {
          return done(unavailable("closed incidents are in the database, which cannot be reached"));
        }
        history_->incidents({.before = request.before, .limit = request.limit}, show);
      },
      done);
}

}  // namespace hai
