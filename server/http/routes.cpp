#include "server/http/routes.h"

#include "server/api/standing_board.h"
#include "server/http/standing_answers.h"

namespace hai {

HttpRoutes::HttpRoutes(HttpParts parts) : parts_(std::move(parts)) {
  add_health_routes(router_, parts_);
  add_job_routes(router_, parts_);
  add_advice_routes(router_, parts_);
  add_node_routes(router_, parts_);
  add_event_routes(router_, parts_);
  add_people_routes(router_, parts_);
  add_admin_routes(router_, parts_);
  if (!parts_.status_page_user.empty()) add_status_page(router_, parts_);
}

void HttpRoutes::handle(const HttpRequest& request, HttpRespond respond) const {
  if (auto answer = redirect_or_refuse(parts_.standing.get(), request)) {
    return respond(std::move(*answer));
  }
  router_.route(request, [this, respond = std::move(respond)](HttpResponse response) {
    mark_stale(parts_.standing.get(), response);
    respond(std::move(response));
  });
}

}  // namespace hai
