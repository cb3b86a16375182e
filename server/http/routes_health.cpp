// For load balancers, supervisors and monitoring. No token: they tell nothing about anybody's jobs.

#include <nlohmann/json.hpp>

#include "common/version.h"
#include "server/http/metrics.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

// "leading", or what it does instead: the word tells a standby from a server in trouble.
std::string_view readiness(const Controller& controller) {
  switch (controller.mode()) {
    case Controller::Mode::leading:
      return "leading";
    case Controller::Mode::loading:
      return "recovering";
    case Controller::Mode::standby:
      return "standby";
    case Controller::Mode::stopped:
      return "stopping";
  }
  return "standby";
}

}  // namespace

void add_health_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/livez",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               // Through the loop: a server whose loop hangs is not alive.
               parts.loop.post([respond] { respond(text_response("ok\n")); });
             });
  router.add("GET", "/readyz",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, respond] {
                 const Controller& controller = parts.queries.controller();
                 HttpResponse response = text_response(std::string(readiness(controller)) + "\n");
                 if (!controller.is_leading()) response.status = 503;
                 respond(std::move(response));
               });
             });
  router.add("GET", "/version",
             [](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               respond(json_response({{"version", version()}}));
             });
  router.add("GET", "/metrics",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, respond] {
                 respond(text_response(metrics_text(parts.queries, parts.agent_count()),
                                       "text/plain; version=0.0.4"));
               });
             });
}

}  // namespace hai
