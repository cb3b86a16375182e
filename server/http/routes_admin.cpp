// /api/v1/digest: what `hai-server verify --live` compares.

#include <nlohmann/json.hpp>

#include "server/api/queries.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

void add_admin_routes(HttpRouter& router, const HttpParts& parts) {
  router.add(
      "GET", "/api/v1/digest",
      [&parts](const HttpRequest& request, const HttpRouter::Parameters&, HttpRespond respond) {
        parts.loop.post([&parts, caller = caller_of(request), respond] {
          parts.queries.get_digest(
              caller, respond_with<DigestView>(respond, [](const DigestView& view) {
                return json_response(Json{{"seq", view.seq}, {"digest", view.digest}});
              }));
        });
      });
}

}  // namespace hai
