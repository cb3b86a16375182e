// /api/v1/users, /api/v1/quotas, /api/v1/whoami

#include <nlohmann/json.hpp>

#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

template <typename T>
auto list_format(std::string_view key) {
  return [key](const std::vector<T>& values) {
    Json items = Json::array();
    for (const T& value : values) items.push_back(to_json(value));
    return list_response(key, std::move(items), {});
  };
}

}  // namespace

void add_people_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/users",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.list_users(
                     caller, respond_with<std::vector<User>>(respond, list_format<User>("users")));
               });
             });
  router.add("GET", "/api/v1/quotas",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               const std::string owner(request.query_value("owner"));
               parts.loop.post([&parts, caller = caller_of(request), owner, respond] {
                 parts.queries.list_quotas(caller, owner,
                                           respond_with<std::vector<QuotaView>>(
                                               respond, list_format<QuotaView>("quotas")));
               });
             });
  router.add("GET", "/api/v1/whoami",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.who_am_i(
                     caller, respond_with<WhoAmIView>(respond, [](const WhoAmIView& view) {
                       return json_response(to_json(view));
                     }));
               });
             });
}

}  // namespace hai
