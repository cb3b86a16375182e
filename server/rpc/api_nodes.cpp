// Nodes, the cluster, and the list of events.

#include "server/rpc/api_convert.h"
#include "server/rpc/api_service.h"
#include "server/rpc/unary_call.h"
#include "server/store/json_text.h"

namespace hai {

grpc::ServerUnaryReactor* ApiService::ListNodes(grpc::CallbackServerContext* context,
                                                const v1::ListNodesRequest* request,
                                                v1::ListNodesReply* reply) {
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), request, reply](UnaryCall call) {
                   queries_.list_nodes(caller, from_proto(*request),
                                       finish_with<NodePage>(call, [reply](const NodePage& page) {
                                         for (const NodeView& node : page.nodes)
                                           to_proto(node, *reply->add_nodes());
                                         reply->set_next_cursor(page.next);
                                       }));
                 });
}

grpc::ServerUnaryReactor* ApiService::GetNode(grpc::CallbackServerContext* context,
                                              const v1::GetNodeRequest* request, v1::Node* reply) {
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        queries_.get_node(
            caller, request->name(),
            finish_with<NodeView>(call, [reply](const NodeView& node) { to_proto(node, *reply); }));
      });
}

grpc::ServerUnaryReactor* ApiService::ControlNode(grpc::CallbackServerContext* context,
                                                  const v1::ControlNodeRequest* request,
                                                  v1::ControlNodeReply* reply) {
  Result<NodeVerb> verb = from_proto(request->action());
  if (!verb.is_ok()) return refuse(context, verb.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), request, reply, verb = verb.value()](UnaryCall call) {
        auto answer = finish_with<std::vector<ActionResult>>(
            call, [reply](const std::vector<ActionResult>& results) {
              for (const ActionResult& result : results) to_proto(result, *reply->add_results());
            });
        const std::vector<std::string> nodes(request->nodes().begin(), request->nodes().end());
        if (verb == NodeVerb::validate && request->together()) {
          return actions_.validate_together(caller, nodes, std::move(answer));
        }
        NodeChange change{verb, request->reason()};
        if (request->has_deadline_us()) change.deadline = unix_micros(request->deadline_us());
        actions_.control_nodes(caller, nodes, change, std::move(answer));
      });
}

grpc::ServerUnaryReactor* ApiService::GetCluster(grpc::CallbackServerContext* context,
                                                 const v1::GetClusterRequest*, v1::Cluster* reply) {
  return on_loop(site_, context, [this, caller = caller_of(*context), reply](UnaryCall call) {
    queries_.get_cluster(
        caller, finish_with<ClusterSummary>(call, [this, reply](const ClusterSummary& cluster) {
          to_proto(cluster, *reply);
          reply->set_leader(server_address_);
        }));
  });
}

grpc::ServerUnaryReactor* ApiService::ListEvents(grpc::CallbackServerContext* context,
                                                 const v1::ListEventsRequest* request,
                                                 v1::ListEventsReply* reply) {
  Result<EventListRequest> list = from_proto(*request);
  if (!list.is_ok()) return refuse(context, list.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), reply, list = std::move(list).value()](UnaryCall call) {
        queries_.list_events(caller, list,
                             finish_with<EventPage>(call, [reply](const EventPage& page) {
                               for (const EventView& event : page.events)
                                 to_proto(event, *reply->add_events());
                               reply->set_next_seq(page.next.value_or(0));
                             }));
      });
}

grpc::ServerUnaryReactor* ApiService::ListIncidents(grpc::CallbackServerContext* context,
                                                    const v1::ListIncidentsRequest*,
                                                    v1::ListIncidentsReply* reply) {
  return on_loop(site_, context, [this, caller = caller_of(*context), reply](UnaryCall call) {
    queries_.list_incidents(caller, {},
                            finish_with<IncidentPage>(call, [reply](const IncidentPage& page) {
                              for (const IncidentView& view : page.incidents) {
                                v1::Incident& out = *reply->add_incidents();
                                out.set_id(view.incident.id.value);
                                out.set_kind(view.incident.kind);
                                out.set_subject(view.incident.subject);
                                out.set_summary(view.incident.summary);
                                out.set_opened_at_us(to_micros(view.incident.opened_at));
                                for (const std::string& node : view.nodes) out.add_nodes(node);
                                for (const IncidentNote& note : view.incident.notes) {
                                  v1::IncidentNote& added = *out.add_notes();
                                  added.set_at_us(to_micros(note.at));
                                  added.set_text(clean_utf8(note.text));
                                }
                              }
                            }));
  });
}

grpc::ServerUnaryReactor* ApiService::CloseIncident(grpc::CallbackServerContext* context,
                                                    const v1::CloseIncidentRequest* request,
                                                    v1::CloseIncidentReply*) {
  return on_loop(site_, context, [this, caller = caller_of(*context), request](UnaryCall call) {
    actions_.close_incident(caller, {request->id(), request->reason()},
                            finish_with<CommandReply>(call, [](const CommandReply&) {}));
  });
}

}  // namespace hai
