// /api/v1/jobs/{id}/{why,move,priority} and /api/v1/whatif

#include <nlohmann/json.hpp>

#include "common/spec/job_spec_yaml.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/http/json_body.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

// {"before": "OTHER"} | {"first": true} | {"last": true}
Result<MoveJob> move_of(const HttpRequest& request, const std::string& job) {
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return body.status();
  const Json& json = body.value();
  RETURN_IF_ERROR(check_keys(json, {"before", "first", "last"}));
  if (json.size() != 1) return invalid_argument("exactly one of before, first, last");
  if (json.contains("before")) {
    const Json& other = json["before"];
    if (other.is_number_integer()) {
      return MoveJob{job, MoveJob::To::before, std::to_string(other.get<int64_t>())};
    }
    Result<std::string> name = string_at(json, "before");
    if (!name.is_ok()) return name.status();
    return MoveJob{job, MoveJob::To::before, name.value()};
  }
  const std::string key = json.begin().key();
  const Json& value = json.begin().value();
  if (value != true) return invalid_argument("{}: must be true", key);
  return MoveJob{job, key == "first" ? MoveJob::To::first : MoveJob::To::last, ""};
}

Result<Change> submit_of(const Json& value) {
  SubmitChange change;
  std::vector<SpecError> errors;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (!parse_job_spec(text, &change.spec, &errors)) return to_status(errors);
  return Change{std::move(change)};
}

Result<Change> drain_of(const Json& value) {
  DrainChange change;
  if (!value.is_array()) return invalid_argument("drain: must be a list of nodes");
  for (const Json& node : value) {
    if (!node.is_string()) return invalid_argument("drain: must be a list of names");
    change.nodes.push_back(node.get<std::string>());
  }
  return Change{std::move(change)};
}

// nodes: a number, or null for no limit; priority: absent = every level.
Result<Change> quota_of(const Json& value) {
  if (!value.is_object()) return invalid_argument("quota: must be an object");
  RETURN_IF_ERROR(check_keys(value, {"owner", "group", "priority", "nodes"}));
  QuotaChange change{.quota = {.group = "*"}};
  Result<std::string> owner = string_at(value, "owner");
  if (!owner.is_ok()) return owner.status();
  change.quota.owner = owner.value();
  if (value.contains("group")) {
    Result<std::string> group = string_at(value, "group");
    if (!group.is_ok()) return group.status();
    change.quota.group = group.value();
  }
  if (value.contains("priority") && value["priority"] != "*") {
    Result<Priority> priority = priority_at(value);
    if (!priority.is_ok()) return priority.status();
    change.priority = priority.value();
  }
  Result<int64_t> nodes = quota_nodes_at(value);
  if (!nodes.is_ok()) return nodes.status();
  change.quota.nodes = nodes.value();
  return Change{std::move(change)};
}

Result<Change> priority_of(const Json& value) {
  if (!value.is_object()) return invalid_argument("priority: must be an object");
  RETURN_IF_ERROR(check_keys(value, {"job", "priority"}));
  if (!value.contains("job")) return invalid_argument("job: is missing");
  const Json& job = value["job"];
  if (!job.is_string() && !job.is_number_integer()) {
    return invalid_argument("job: must be an id or a name");
  }
  Result<Priority> priority = priority_at(value);
  if (!priority.is_ok()) return priority.status();
  return Change{
      PriorityChange{job.is_string() ? job.get<std::string>() : job.dump(), priority.value()}};
}

Result<Change> change_of(const HttpRequest& request) {
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return body.status();
  const Json& json = body.value();
  RETURN_IF_ERROR(check_keys(json, {"submit", "drain", "quota", "priority"}));
  if (json.size() != 1) return invalid_argument("exactly one of submit, drain, quota, priority");
  const std::string key = json.begin().key();
  const Json& value = json.begin().value();
  if (key == "submit") return submit_of(value);
  if (key == "drain") return drain_of(value);
  if (key == "quota") return quota_of(value);
  return priority_of(value);
}

void why(const HttpParts& parts, const HttpRequest& request, const std::string& job,
         HttpRespond respond) {
  Result<bool> estimate = request.query_value("estimate").empty()
                              ? Result<bool>(true)
                              : query_boolean(request, "estimate");
  if (!estimate.is_ok()) return respond(problem(estimate.status()));
  parts.loop.post([&parts, caller = caller_of(request), job, with = estimate.value(), respond] {
    parts.advisor.why(caller, job, with, respond_with<WhyView>(respond, [](const WhyView& view) {
                        return json_response(to_json(view));
                      }));
  });
}

void what_if(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<Change> change = change_of(request);
  if (!change.is_ok()) return respond(problem(change.status()));
  parts.loop.post([&parts, caller = caller_of(request), change = change.value(), respond] {
    parts.advisor.what_if(caller, change,
                          respond_with<WhatIfView>(respond, [](const WhatIfView& view) {
                            return json_response(to_json(view));
                          }));
  });
}

// Answers with the job as it is then.
Done<CommandReply> then_show(const HttpParts& parts, const Caller& caller, HttpRespond respond) {
  return [&parts, caller, respond](Result<CommandReply> reply) {
    if (!reply.is_ok()) return respond(problem(reply.status()));
    parts.queries.get_job(caller, std::to_string(reply.value().job.value),
                          respond_with<JobView>(respond, [](const JobView& view) {
                            return json_response(to_json(view));
                          }));
  };
}

void move_job(const HttpParts& parts, const HttpRequest& request, const std::string& job,
              HttpRespond respond) {
  Result<MoveJob> move = move_of(request, job);
  if (!move.is_ok()) return respond(problem(move.status()));
  parts.loop.post([&parts, caller = caller_of(request), move = move.value(), respond] {
    parts.actions.move_job(caller, move, then_show(parts, caller, respond));
  });
}

void set_priority(const HttpParts& parts, const HttpRequest& request, const std::string& job,
                  HttpRespond respond) {
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return respond(problem(body.status()));
  Status status = check_keys(body.value(), {"priority"});
  if (!status.is_ok()) return respond(problem(status));
  Result<Priority> priority = priority_at(body.value());
  if (!priority.is_ok()) return respond(problem(priority.status()));
  parts.loop.post([&parts, caller = caller_of(request), job, priority = priority.value(), respond] {
    parts.actions.set_priority(caller, job, priority, then_show(parts, caller, respond));
  });
}

}  // namespace

void add_advice_routes(HttpRouter& router, const HttpParts& parts) {
  const auto on_job = [&](std::string_view method, std::string_view path, auto handler) {
    router.add(method, path,
               [&parts, handler](const HttpRequest& request, const Parameters& parameters,
                                 HttpRespond respond) {
                 handler(parts, request, parameters.at("id"), std::move(respond));
               });
  };
  on_job("GET", "/api/v1/jobs/{id}/why", why);
  on_job("POST", "/api/v1/jobs/{id}/move", move_job);
  on_job("POST", "/api/v1/jobs/{id}/priority", set_priority);
  router.add("POST", "/api/v1/whatif",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               what_if(parts, request, std::move(respond));
             });
}

}  // namespace hai
