// Nodes, incidents and the cluster.

#include "server/api/actions.h"
#include "server/api/answers.h"
#include "server/api/observatory.h"
#include "server/api/operations.h"

namespace hai {

namespace {

constexpr Duration kWindowDefault = 6h;

struct ClusterAnswer {
  ClusterSummary summary;
  CensusView census;
};

Result<Duration> window_of(const std::string& text) {
  Result<Duration> window = text.empty() ? Result<Duration>(kWindowDefault) : parse_duration(text);
  if (!window.is_ok()) return invalid_argument("window: {}", window.status().message());
  if (window.value() < Duration(1min) || window.value() > ClusterSeries::kWindowMax) {
    return invalid_argument("window: must be 1m to {}, is {}",
                            format_duration(ClusterSeries::kWindowMax),
                            format_duration(window.value()));
  }
  return window;
}

}  // namespace

Prepared<v1::ListNodesReply> OperationBodies::ListNodes(const v1::ListNodesRequest& request) {
  Result<NodeListRequest> list = from_proto(request);
  if (!list.is_ok()) return list.status();
  return [this, list = std::move(list).value()](const Caller& caller,
                                                Answer<v1::ListNodesReply> answer) {
    parts_.queries.list_nodes(
        caller, list,
        answer_with<NodePage>(answer, [](const NodePage& page, v1::ListNodesReply& reply) {
          add_all(page.nodes, reply.mutable_nodes());
          if (!page.next.empty()) reply.set_next_cursor(page.next);
        }));
  };
}

Prepared<v1::Node> OperationBodies::GetNode(const v1::GetNodeRequest& request) {
  return [this, name = request.name()](const Caller& caller, Answer<v1::Node> answer) {
    parts_.queries.get_node(
        caller, name, answer_with<NodeView>(answer, [](const NodeView& node, v1::Node& reply) {
          to_proto(node, reply);
        }));
  };
}

Prepared<v1::ListNodeJobsReply> OperationBodies::ListNodeJobs(
    const v1::ListNodeJobsRequest& request) {
  Result<int> limit = page_size(request.page_size(), kPageDefault, kHistoryPageMax);
  if (!limit.is_ok()) return limit.status();
  return [this, name = request.name(), limit = limit.value()](
             const Caller& caller, Answer<v1::ListNodeJobsReply> answer) {
    parts_.queries.list_node_jobs(
        caller, name, limit,
        answer_with<std::vector<NodeStay>>(
            answer, [](const std::vector<NodeStay>& stays, v1::ListNodeJobsReply& reply) {
              add_all(stays, reply.mutable_jobs());
            }));
  };
}

static std::vector<std::string> labels_of(std::string_view text) {
  std::vector<std::string> labels;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    labels.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return labels;
}

static NodeSettings settings_of(const v1::ControlNodeRequest& request) {
  NodeSettings settings;
  if (request.has_group()) settings.group = request.group();
  if (request.has_zone()) settings.zone = request.zone();
  if (request.has_leaf()) settings.leaf = request.leaf();
  if (request.has_labels()) settings.labels = labels_of(request.labels());
  return settings;
}

Prepared<v1::ControlNodeReply> OperationBodies::ControlNode(const v1::ControlNodeRequest& request) {
  NodeChange change{request.action(), request.reason()};
  if (request.has_deadline_us()) change.deadline = unix_micros(request.deadline_us());
  change.settings = settings_of(request);
  change.reset = {request.reset().begin(), request.reset().end()};
  const bool is_together = request.action() == v1::NODE_ACTION_VALIDATE && request.together();
  return [this, nodes = std::vector<std::string>(request.nodes().begin(), request.nodes().end()),
          change, is_together](const Caller& caller, Answer<v1::ControlNodeReply> answer) {
    auto done = answer_with<std::vector<ActionResult>>(
        answer, [](const std::vector<ActionResult>& results, v1::ControlNodeReply& reply) {
          add_all(results, reply.mutable_results());
        });
    if (is_together) return parts_.actions.validate_together(caller, nodes, std::move(done));
    parts_.actions.control_nodes(caller, nodes, change, std::move(done));
  };
}

// The sums first: they may take a few turns, the totals are of the moment of the answer.
Prepared<v1::Cluster> OperationBodies::GetCluster(const v1::GetClusterRequest&) {
  return [this](const Caller& caller, Answer<v1::Cluster> answer) {
    parts_.queries.who_am_i(caller, [this, caller, answer](Result<WhoAmIView> me) {
      if (!me.is_ok()) return answer(me.status());
      parts_.observatory.census().ask([this, caller, answer](const CensusView& census) {
        auto done = answer_with<ClusterAnswer>(
            answer,
            [address = parts_.server_address](const ClusterAnswer& cluster, v1::Cluster& reply) {
              to_proto(cluster.summary, cluster.census, reply);
              reply.set_leader(address);
            });
        parts_.queries.controller().read(
            caller,
            [this, done, census](const Controller::ReadContext& context, const Actor&) {
              ClusterAnswer cluster{parts_.observatory.summary(context), census};
              cluster.summary.epoch_started_at = parts_.queries.feed().epoch_started_at();
              done(std::move(cluster));
            },
            done);
      });
    });
  };
}

Prepared<v1::ClusterSeries> OperationBodies::GetClusterSeries(
    const v1::GetClusterSeriesRequest& request) {
  Result<Duration> length = window_of(request.window());
  if (!length.is_ok()) return length.status();
  return [this, length = length.value()](const Caller& caller, Answer<v1::ClusterSeries> answer) {
    auto done = answer_with<ClusterSeries::Window>(
        answer, [](const ClusterSeries::Window& window, v1::ClusterSeries& reply) {
          to_proto(window, reply);
        });
    parts_.queries.controller().read(
        caller,
        [this, length, done](const Controller::ReadContext&, const Actor&) {
          done(parts_.observatory.series().window(parts_.loop.wall_now(), length));
        },
        done);
  };
}

Prepared<v1::ListIncidentsReply> OperationBodies::ListIncidents(
    const v1::ListIncidentsRequest& request) {
  Result<IncidentListRequest> list = from_proto(request);
  if (!list.is_ok()) return list.status();
  return [this, list = list.value()](const Caller& caller, Answer<v1::ListIncidentsReply> answer) {
    parts_.queries.list_incidents(
        caller, list,
        answer_with<IncidentPage>(answer,
                                  [](const IncidentPage& page, v1::ListIncidentsReply& reply) {
                                    add_all(page.incidents, reply.mutable_incidents());
                                    if (page.next) {
                                      reply.set_next_cursor(std::to_string(page.next.value));
                                    }
                                  }));
  };
}

Prepared<v1::CloseIncidentReply> OperationBodies::CloseIncident(
    const v1::CloseIncidentRequest& request) {
  return [this, close = hai::CloseIncident{request.id(), request.reason()}](
             const Caller& caller, Answer<v1::CloseIncidentReply> answer) {
    parts_.actions.close_incident(caller, close, answer_done(answer));
  };
}

Prepared<v1::Digest> OperationBodies::GetDigest(const v1::GetDigestRequest&) {
  return [this](const Caller& caller, Answer<v1::Digest> answer) {
    parts_.queries.get_digest(
        caller, answer_with<DigestView>(answer, [](const DigestView& view, v1::Digest& reply) {
          reply.set_seq(view.seq);
          reply.set_digest(view.digest);
        }));
  };
}

}  // namespace hai
