// /api/v1/jobs/{id}/{spec,checkpoints,progress} and /api/v1/jobs/validate

#include <nlohmann/json.hpp>

#include "common/spec/job_spec_yaml.h"
#include "server/api/advisor.h"
#include "server/api/observatory.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

// As it can be submitted again. Environments may hold passwords: only its owner and operators see
// them.
HttpResponse format_spec(const Queries::FoundJob& found) {
  JobSpec spec = *found.job.spec;
  spec.priority = found.job.priority;
  std::string hidden;
  if (!found.may_control && !spec.environments.empty()) {
    hidden = "# environments: shown to " + found.job.user + " and operators only\n";
    spec.environments.clear();
  }
  return {.content_type = "application/yaml", .body = hidden + format_job_spec_yaml(spec)};
}

HttpResponse format_checkpoints(const EventPage& page) {
  Json checkpoints = Json::array();
  for (const EventView& event : page.events) {
    const Json body = Json::parse(event.body_json, nullptr, /*allow_exceptions=*/false);
    if (!body.is_object() || !body.contains("checkpoint")) continue;
    const Json& each = body["checkpoint"];
    checkpoints.push_back({{"attempt", body.value("attempt", 0)},
                           {"step", each.value("step", int64_t{0})},
                           {"path", each.value("path", std::string())},
                           {"save_seconds", each.value("save_seconds", 0.0)},
                           {"at", format_rfc3339(event.at)}});
  }
  return list_response("checkpoints", std::move(checkpoints),
                       page.next ? Json(std::to_string(*page.next)) : Json());
}

void list_checkpoints(const HttpParts& parts, const HttpRequest& request, const std::string& job,
                      HttpRespond respond) {
  EventListRequest list{.job = job, .kinds = {"checkpoint_reported"}};
  Result<int> limit = query_limit(request, kPageDefault, kPageMax);
  if (!limit.is_ok()) return respond(problem(limit.status()));
  Result<int64_t> cursor = query_integer(request, "cursor", -1);
  if (!cursor.is_ok()) return respond(problem(cursor.status()));
  list.limit = limit.value();
  if (cursor.value() >= 0) list.before_seq = cursor.value();
  parts.loop.post([&parts, caller = caller_of(request), list, respond] {
    parts.queries.list_events(caller, list, respond_with<EventPage>(respond, format_checkpoints));
  });
}

HttpResponse format_progress(const std::vector<ProgressPoint>& points) {
  Json items = Json::array();
  for (const ProgressPoint& point : points) {
    items.push_back({{"at", format_rfc3339(point.at)}, {"step", point.step}});
  }
  return json_response({{"points", std::move(items)}});
}

void validate_job(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  JobSpec spec;
  std::vector<SpecError> errors;
  if (!parse_job_spec(request.body, &spec, &errors)) {
    return respond(spec_problem(errors));
  }
  parts.loop.post([&parts, caller = caller_of(request), spec, respond] {
    parts.advisor.validate(caller, spec, [spec, respond](Result<CommandReply> reply) {
      if (!reply.is_ok()) return respond(problem(reply.status()));
      respond(json_response({{"valid", true}, {"spec", format_job_spec_yaml(spec)}}));
    });
  });
}

}  // namespace

void add_job_detail_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("POST", "/api/v1/jobs/validate",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               validate_job(parts, request, std::move(respond));
             });
  const auto on_job = [&](std::string_view path, auto handler) {
    router.add("GET", path,
               [&parts, handler](const HttpRequest& request, const Parameters& parameters,
                                 HttpRespond respond) {
                 handler(parts, request, parameters.at("id"), std::move(respond));
               });
  };
  on_job("/api/v1/jobs/{id}/checkpoints", list_checkpoints);
  on_job("/api/v1/jobs/{id}/spec", [](const HttpParts& parts, const HttpRequest& request,
                                      const std::string& job, HttpRespond respond) {
    parts.loop.post([&parts, caller = caller_of(request), job, respond] {
      parts.queries.find_job(caller, job, respond_with<Queries::FoundJob>(respond, format_spec));
    });
  });
  on_job("/api/v1/jobs/{id}/progress", [](const HttpParts& parts, const HttpRequest& request,
                                          const std::string& job, HttpRespond respond) {
    parts.loop.post([&parts, caller = caller_of(request), job, respond] {
      parts.queries.find_job(caller, job, [&parts, respond](Result<Queries::FoundJob> found) {
        if (!found.is_ok()) return respond(problem(found.status()));
        respond(format_progress(parts.observatory.progress().points(found.value().job.id)));
      });
    });
  });
}

}  // namespace hai
