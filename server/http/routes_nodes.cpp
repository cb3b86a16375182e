// /api/v1/nodes

#include <nlohmann/json.hpp>

#include "server/api/actions.h"
#include "server/http/json_body.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

constexpr int kStaysDefault = 100;

Result<NodeListRequest> list_request(const HttpRequest& request) {
  Result<int> limit = query_limit(request, kPageMax, kNodePageMax);
  if (!limit.is_ok()) return limit.status();
  auto text = [&request](std::string_view key) { return std::string(request.query_value(key)); };
  return NodeListRequest{.group = text("group"),
                         .zone = text("zone"),
                         .leaf = text("leaf"),
                         .liveness = text("liveness"),
                         .scheduling = text("scheduling"),
                         .after = text("cursor"),
                         .limit = limit.value()};
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

Result<NodeChange> change_of(const HttpRequest& request, NodeVerb verb) {
  if (verb != NodeVerb::drain || request.body.empty()) {
    Result<std::string> reason = reason_of(request);
    if (!reason.is_ok()) return reason.status();
    return NodeChange{verb, reason.value()};
  }
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return body.status();
  RETURN_IF_ERROR(check_keys(body.value(), {"reason", "deadline"}));
  Result<std::string> reason = optional_string_at(body.value(), "reason");
  if (!reason.is_ok()) return reason.status();
  Result<std::optional<UnixTime>> deadline = optional_time_at(body.value(), "deadline");
  if (!deadline.is_ok()) return deadline.status();
  return NodeChange{verb, reason.value(), deadline.value()};
}

Json stay_json(const NodeStay& stay) {
  return {{"id", stay.job.value},
          {"name", stay.name},
          {"user", stay.user},
          {"attempt", stay.attempt},
          {"rank", stay.rank},
          {"state", to_string(stay.state)},
          {"placed_at", format_rfc3339(stay.placed_at)},
          {"ended_at", stay.ended_at ? Json(format_rfc3339(*stay.ended_at)) : Json()},
          {"end_reason", stay.end_reason.empty() ? Json() : Json(stay.end_reason)}};
}

void list_node_jobs(const HttpParts& parts, const HttpRequest& request, const std::string& name,
                    HttpRespond respond) {
  Result<int> limit = query_limit(request, kStaysDefault, kHistoryPageMax);
  if (!limit.is_ok()) return respond(problem(limit.status()));
  parts.loop.post([&parts, caller = caller_of(request), name, limit = limit.value(), respond] {
    parts.queries.list_node_jobs(
        caller, name, limit,
        respond_with<std::vector<NodeStay>>(respond, [](const std::vector<NodeStay>& stays) {
          Json items = Json::array();
          for (const NodeStay& stay : stays) items.push_back(stay_json(stay));
          return json_response({{"jobs", std::move(items)}});
        }));
  });
}

void control_node(const HttpParts& parts, NodeVerb verb, const HttpRequest& request,
                  const std::string& name, HttpRespond respond) {
  Result<NodeChange> change = change_of(request, verb);
  if (!change.is_ok()) return respond(problem(change.status()));
  parts.loop.post([&parts, caller = caller_of(request), name, change = change.value(), respond] {
    parts.actions.control_nodes(
        caller, {name}, change,
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
  router.add(
      "GET", "/api/v1/nodes/{name}/jobs",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        list_node_jobs(parts, request, parameters.at("name"), std::move(respond));
      });
  for (const auto& [word, verb] : kNodeVerbs) {
    router.add("POST", fmt::format("/api/v1/nodes/{{name}}/{}", word),
               [&parts, verb = verb](const HttpRequest& request, const Parameters& parameters,
                                     HttpRespond respond) {
                 control_node(parts, verb, request, parameters.at("name"), std::move(respond));
               });
  }
}

}  // namespace hai
