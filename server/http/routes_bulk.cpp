// Many at once: POST /api/v1/jobs/actions and /api/v1/nodes/actions, each with its own result.

#include <nlohmann/json.hpp>

#include "server/api/actions.h"
#include "server/http/json_body.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

struct Bulk {
  std::string verb;
  std::vector<std::string> names;
  std::string reason;
  std::optional<UnixTime> deadline;
};

Result<Bulk> bulk_of(const HttpRequest& request, const std::string& what) {
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return body.status();
  if (what == "nodes") {
    RETURN_IF_ERROR(check_keys(body.value(), {"verb", what, "reason", "deadline"}));
  } else {
    RETURN_IF_ERROR(check_keys(body.value(), {"verb", what, "reason"}));
  }
  Result<std::string> verb = string_at(body.value(), "verb");
  if (!verb.is_ok()) return verb.status();
  Result<std::vector<std::string>> names = names_at(body.value(), what);
  if (!names.is_ok()) return names.status();
  Result<std::string> reason = optional_string_at(body.value(), "reason");
  if (!reason.is_ok()) return reason.status();
  Result<std::optional<UnixTime>> deadline = optional_time_at(body.value(), "deadline");
  if (!deadline.is_ok()) return deadline.status();
  return Bulk{verb.value(), names.value(), reason.value(), deadline.value()};
}

// A refusal of one is no error of the request: who asked reads each result.
HttpResponse format_results(const std::vector<ActionResult>& results) {
  // Who is nobody is so for each of them.
  if (!results.empty() && results.front().status.code() == Code::unauthenticated) {
    return problem(results.front().status);
  }
  Json items = Json::array();
  for (const ActionResult& result : results) {
    items.push_back({{"name", result.name},
                     {"job_id", result.job ? Json(result.job.value) : Json()},
                     {"code", to_string(result.status.code())},
                     {"message", result.status.is_ok() ? result.message
                                                       : std::string(result.status.message())}});
  }
  return json_response({{"results", std::move(items)}});
}

template <typename Verb>
std::optional<Verb> verb_of(const std::pair<std::string_view, Verb>* known, size_t count,
                            const std::string& word, std::string& allowed) {
  for (size_t i = 0; i < count; ++i) {
    if (known[i].first == word) return known[i].second;
    allowed += (allowed.empty() ? "" : ", ") + std::string(known[i].first);
  }
  return std::nullopt;
}

void act_on_jobs(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<Bulk> bulk = bulk_of(request, "jobs");
  if (!bulk.is_ok()) return respond(problem(bulk.status()));
  std::string allowed;
  const auto verb = verb_of(kJobVerbs.data(), kJobVerbs.size(), bulk.value().verb, allowed);
  if (!verb) {
    return respond(problem(
        invalid_argument("verb: {} is none of {}", bulk.value().verb.substr(0, 100), allowed)));
  }
  parts.loop.post([&parts, caller = caller_of(request), verb = *verb, bulk = bulk.value(),
                   respond] {
    parts.actions.control_jobs(caller, bulk.names, verb, bulk.reason,
                               respond_with<std::vector<ActionResult>>(respond, format_results));
  });
}

void act_on_nodes(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<Bulk> bulk = bulk_of(request, "nodes");
  if (!bulk.is_ok()) return respond(problem(bulk.status()));
  std::string allowed;
  const auto verb = verb_of(kNodeVerbs.data(), kNodeVerbs.size(), bulk.value().verb, allowed);
  if (!verb) {
    return respond(problem(
        invalid_argument("verb: {} is none of {}", bulk.value().verb.substr(0, 100), allowed)));
  }
  parts.loop.post([&parts, caller = caller_of(request), verb = *verb, bulk = bulk.value(),
                   respond] {
    parts.actions.control_nodes(caller, bulk.names, {verb, bulk.reason, bulk.deadline},
                                respond_with<std::vector<ActionResult>>(respond, format_results));
  });
}

}  // namespace

void add_bulk_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("POST", "/api/v1/jobs/actions",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               act_on_jobs(parts, request, std::move(respond));
             });
  router.add("POST", "/api/v1/nodes/actions",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               act_on_nodes(parts, request, std::move(respond));
             });
}

}  // namespace hai
