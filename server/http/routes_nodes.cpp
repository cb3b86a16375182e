// /api/v1/nodes and /api/v1/cluster

#include <nlohmann/json.hpp>

#include "server/api/actions.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

Result<NodeListRequest> list_request(const HttpRequest& request) {
  Result<int64_t> limit = query_integer(request, "limit", kPageMax);
  if (!limit.is_ok()) return limit.status();
  if (limit.value() < 1 || limit.value() > kNodePageMax) {
    return invalid_argument("limit: must be 1 to {}, is {}", kNodePageMax, limit.value());
  }
  auto text = [&request](std::string_view key) { return std::string(request.query_value(key)); };
  return NodeListRequest{.group = text("group"),
                         .zone = text("zone"),
                         .leaf = text("leaf"),
                         .liveness = text("liveness"),
                         .scheduling = text("scheduling"),
                         .after = text("cursor"),
                         .limit = static_cast<int>(limit.value())};
}

HttpResponse format_page(const NodePage& page) {
  Json nodes = Json::array();
  for (const NodeView& node : page.nodes) nodes.push_back(to_json(node));
  return list_response("nodes", std::move(nodes), page.next.empty() ? Json() : Json(page.next));
}

void list_nodes(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<NodeListRequest> list = list_request(request);
  if (!list.is_ok()) return respond(problem(list.status()));
  parts.loop.post([&parts, caller = caller_of(request), list = list.value(), respond] {
    parts.queries.list_nodes(caller, list, respond_with<NodePage>(respond, format_page));
  });
}

void respond_with_node(const HttpParts& parts, const Caller& caller, const std::string& name,
                       HttpRespond respond) {
  parts.queries.get_node(caller, name, respond_with<NodeView>(respond, [](const NodeView& node) {
                           return json_response(to_json(node));
                         }));
}

void control_node(const HttpParts& parts, NodeVerb verb, const HttpRequest& request,
                  const std::string& name, HttpRespond respond) {
  Result<std::string> reason = reason_of(request);
  if (!reason.is_ok()) return respond(problem(reason.status()));
  parts.loop.post(
      [&parts, caller = caller_of(request), verb, name, reason = reason.value(), respond] {
        parts.actions.control_nodes(
            caller, {name}, verb, reason,
            [&parts, caller, respond](Result<std::vector<ActionResult>> results) {
              if (!results.is_ok()) return respond(problem(results.status()));
              // The path names one node; a host list would have more.
              if (results.value().size() != 1) {
                return respond(problem(invalid_argument("name one node, not a list")));
              }
              const ActionResult& result = results.value().front();
              if (!result.status.is_ok()) return respond(problem(result.status));
              respond_with_node(parts, caller, result.name, respond);
            });
      });
}

}  // namespace

void add_node_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/nodes",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               list_nodes(parts, request, std::move(respond));
             });
  router.add(
      "GET", "/api/v1/nodes/{name}",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        parts.loop.post([&parts, caller = caller_of(request), name = parameters.at("name"),
                         respond] { respond_with_node(parts, caller, name, respond); });
      });
  static constexpr std::pair<std::string_view, NodeVerb> kVerbs[] = {
      {"cordon", NodeVerb::cordon}, {"drain", NodeVerb::drain}, {"undrain", NodeVerb::undrain},
      {"fence", NodeVerb::fence}};
  for (const auto& [word, verb] : kVerbs) {
    router.add("POST", fmt::format("/api/v1/nodes/{{name}}/{}", word),
               [&parts, verb = verb](const HttpRequest& request, const Parameters& parameters,
                                     HttpRespond respond) {
                 control_node(parts, verb, request, parameters.at("name"), std::move(respond));
               });
  }
  router.add("GET", "/api/v1/incidents",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.list_incidents(
                     caller, respond_with<std::vector<IncidentView>>(
                                 respond, [](const std::vector<IncidentView>& views) {
                                   Json incidents = Json::array();
                                   for (const IncidentView& view : views)
                                     incidents.push_back(to_json(view));
                                   return json_response({{"incidents", incidents}});
                                 }));
               });
             });
  router.add("GET", "/api/v1/cluster",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.get_cluster(
                     caller, respond_with<ClusterSummary>(respond, [](const ClusterSummary& view) {
                       return json_response(to_json(view));
                     }));
               });
             });
}

}  // namespace hai
