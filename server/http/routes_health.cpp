// For load balancers, supervisors and monitoring. No token: they tell nothing about anybody's jobs.

#include "common/version.h"
#include "server/api/queries.h"
#include "server/http/metrics.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"
#include "server/http/standing_answers.h"

namespace hai {

void add_health_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/livez",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               // Through the loop: a server whose loop hangs is not alive.
               parts.loop.post([respond] { respond(text_response("ok\n")); });
             });
  router.add("GET", "/readyz",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, respond] {
                 const Standing standing = parts.queries.controller().standing();
                 const std::string trouble = parts.grpc_trouble ? parts.grpc_trouble() : "";
                 const std::string why = trouble.empty() ? "" : "; " + trouble;
                 HttpResponse response = text_response(readiness_text(standing) + why + "\n");
                 if (!standing.is_leading() || !why.empty()) response.status = 503;
                 respond(std::move(response));
               });
             });
  router.add("GET", "/version",
             [](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               respond({.body = fmt::format("{{\"version\":\"{}\"}}\n", version())});
             });
  router.add("GET", "/metrics",
             [&parts](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, respond] {
                 respond(text_response(metrics_text(parts), "text/plain; version=0.0.4"));
               });
             });
}

}  // namespace hai
