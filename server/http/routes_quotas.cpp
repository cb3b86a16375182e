// /api/v1/quotas

#include <nlohmann/json.hpp>

#include "server/api/actions.h"
#include "server/http/json_body.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

struct QuotaName {
  Quota quota;                       // owner and group
  std::optional<Priority> priority;  // none: every level, "*"
};

Result<QuotaName> quota_name(const Parameters& parameters) {
  QuotaName name{.quota = {.owner = parameters.at("owner"), .group = parameters.at("group")}};
  const std::string& word = parameters.at("priority");
  if (word == "*") return name;
  Result<Priority> priority = parse_priority(word);
  if (!priority.is_ok()) return priority.status();
  name.priority = priority.value();
  return name;
}

HttpResponse format_quotas(const std::vector<QuotaView>& quotas) {
  Json items = Json::array();
  for (const QuotaView& quota : quotas) items.push_back(to_json(quota));
  return list_response("quotas", std::move(items), {});
}

// The row as it is then; of every level, what was asked.
void show_quota(const HttpParts& parts, const Caller& caller, const QuotaName& name,
                HttpRespond respond) {
  parts.queries.list_quotas(
      caller, name.quota.owner, [name, respond](Result<std::vector<QuotaView>> quotas) {
        if (!quotas.is_ok()) return respond(problem(quotas.status()));
        for (const QuotaView& view : quotas.value()) {
          if (view.quota.group != name.quota.group) continue;
          if (name.priority && view.quota.priority != *name.priority) continue;
          Json json = to_json(view);
          if (!name.priority) json["priority"] = "*";
          return respond(json_response(json));
        }
        respond(problem(aborted("the quota of {} was removed meanwhile", name.quota.owner)));
      });
}

void put_quota(const HttpParts& parts, const HttpRequest& request, const Parameters& parameters,
               HttpRespond respond) {
  Result<QuotaName> name = quota_name(parameters);
  if (!name.is_ok()) return respond(problem(name.status()));
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return respond(problem(body.status()));
  if (Status status = check_keys(body.value(), {"nodes"}); !status.is_ok()) {
    return respond(problem(status));
  }
  Result<int64_t> nodes = quota_nodes_at(body.value());
  if (!nodes.is_ok()) return respond(problem(nodes.status()));
  name.value().quota.nodes = nodes.value();
  parts.loop.post([&parts, caller = caller_of(request), name = name.value(), respond] {
    parts.actions.set_quota(caller, name.quota, name.priority,
                            [&parts, caller, name, respond](Result<CommandReply> reply) {
                              if (!reply.is_ok()) return respond(problem(reply.status()));
                              show_quota(parts, caller, name, respond);
                            });
  });
}

void delete_quota(const HttpParts& parts, const HttpRequest& request, const Parameters& parameters,
                  HttpRespond respond) {
  Result<QuotaName> name = quota_name(parameters);
  if (!name.is_ok()) return respond(problem(name.status()));
  parts.loop.post([&parts, caller = caller_of(request), name = name.value(), respond] {
    parts.actions.remove_quota(caller, name.quota, name.priority, respond_empty(respond));
  });
}

}  // namespace

void add_quota_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/quotas",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               const std::string owner(request.query_value("owner"));
               parts.loop.post([&parts, caller = caller_of(request), owner, respond] {
                 parts.queries.list_quotas(
                     caller, owner, respond_with<std::vector<QuotaView>>(respond, format_quotas));
               });
             });
  constexpr std::string_view kPath = "/api/v1/quotas/{owner}/{group}/{priority}";
  router.add("PUT", kPath,
             [&parts](const HttpRequest& request, const Parameters& parameters,
                      HttpRespond respond) { put_quota(parts, request, parameters, respond); });
  router.add("DELETE", kPath,
             [&parts](const HttpRequest& request, const Parameters& parameters,
                      HttpRespond respond) { delete_quota(parts, request, parameters, respond); });
}

}  // namespace hai
