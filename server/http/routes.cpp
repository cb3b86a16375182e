#include "server/http/routes.h"

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

}  // namespace hai
