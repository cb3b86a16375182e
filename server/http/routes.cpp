#include "server/http/routes.h"

#include <chrono>

#include "common/check.h"
#include "proto/json/call_options.h"
#include "server/api/admission.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "server/api/failure_limit.h"
#include "server/api/request_meter.h"
#include "server/api/standing_board.h"
#include "server/http/problem.h"
#include "server/http/route_help.h"
#include "server/http/standing_answers.h"
#include "server/http/web_files.h"

namespace hai {

HttpRoutes::HttpRoutes(HttpParts parts)
    : parts_(std::move(parts)), submits_(submit_routes()), calls_(call_routes()) {
  add_health_routes(router_, parts_);
  add_api_routes(router_, parts_);
  add_job_routes(router_, parts_);
  add_verb_routes(router_, parts_);
  add_event_routes(router_, parts_);
  add_session_routes(router_, parts_);
  add_shell_route(router_, parts_);
  add_oidc_routes(router_, parts_);
  router_.add("GET", "/api/v1/openapi.json",
              [text = openapi_.json()](const HttpRequest&, const HttpRouter::Parameters&,
                                       HttpRespond respond) { respond({.body = text}); });
  router_.add_checks([this](const std::string& method, const std::string& pattern) {
    const Openapi::Rules* rules = openapi_.find(method, pattern);
    CHECK(rules != nullptr);  // a route that is not in schemas/openapi.yaml
    const bool is_for_anyone = openapi_.is_for_anyone(method, pattern);
    const bool takes_others = openapi_.takes_others(method, pattern);
    return [this, rules, is_for_anyone, takes_others](const HttpRequest& request) {
      if (!is_for_anyone) RETURN_IF_ERROR(admit(request));
      return takes_others ? ok() : check_query(*rules, request);
    };
  });
  if (parts_.has_status_page) add_status_page(router_, parts_);
}

// A page belongs where the leader is, because its requests may not go to another address; without a
// leader it is shown all the same and says so itself.
HttpResponse HttpRoutes::show(const HttpRequest& request) const {
  const Standing standing = parts_.standing.get();
  if (parts_.web.is_page(request.path) && !standing.is_leading() && !standing.leader.http.empty()) {
    return redirect_to_leader(standing, parts_.scheme, request);
  }
  return parts_.web.answer(request);
}

Status HttpRoutes::admit(const HttpRequest& request) const {
  RETURN_IF_ERROR(check_csrf(request));
  return parts_.callers.admit(caller_of(request));
}

std::optional<HttpResponse> HttpRoutes::turn_away(const HttpRequest& head) const {
  if (auto elsewhere = redirect_or_refuse(parts_.standing.get(), parts_.scheme, head))
    return elsewhere;
  // That a body is too long is the answer to whom the route would have let in.
  if (openapi_.is_for_anyone(head.method, router_.pattern_of(head))) return std::nullopt;
  const Status admitted = admit(head);
  if (admitted.is_ok()) return std::nullopt;
  if (const std::string call = call_of(head.method, router_.pattern_of(head)); !call.empty()) {
    parts_.audit.note({.caller = caller_of(head), .address = head.peer, .name = call, .facts = {}},
                      admitted);
  }
  return problem(admitted);
}

// Verbs of one thing have routes of their own, made of the words of ControlJob and ControlNode.
std::string HttpRoutes::call_of(const std::string& method, const std::string& route) const {
  const auto found = calls_.find((method == "HEAD" ? "GET" : method) + " " + route);
  if (found != calls_.end()) return found->second;
  if (route == "/api/v1/oidc/callback") return "SignIn";
  if (route == "/api/v1/jobs/{id}/shell") return std::string(kShellCall);
  if (method != "POST") return "";
  if (route.starts_with("/api/v1/jobs/{id}/")) return "ControlJob";
  return route.starts_with("/api/v1/nodes/{name}/") ? "ControlNode" : "";
}

// Whatever the handlers say in the end, it is noted here.
HttpRespond HttpRoutes::audited(const HttpRequest& request, const std::string& route,
                                HttpRespond respond) const {
  std::string call = call_of(request.method, route);
  if (call.empty()) return respond;
  return [this, call = std::move(call), caller = caller_of(request), address = request.peer,
          facts = request.facts, respond = std::move(respond)](HttpResponse response) {
    // Who gets a WebSocket is told of when he has opened something (rpc/shells.h).
    const bool is_ours =
        response.socket == nullptr && (response.status < 400 || !response.error.is_ok());
    if (is_ours && parts_.audit.wants(call, response.error.code())) {
      parts_.audit.note({.caller = caller, .address = address, .name = call, .facts = *facts},
                        response.error);
    }
    respond(std::move(response));
  };
}

void HttpRoutes::handle_public(const HttpRequest& request, bool has_health_port,
                               HttpRespond respond) const {
  const bool is_elsewhere = has_health_port && router_.pattern_of(request) == "/metrics";
  if (!is_elsewhere || parts_.callers.knows(caller_of(request)))
    return handle(request, std::move(respond));
  respond(problem(unauthenticated(
      "metrics are at the port of listen.health, and here for who shows a token to the leader")));
}

// Methods that are made up are counted as one.
static std::string known_method(const std::string& method) {
  for (const char* known : {"GET", "HEAD", "POST", "PUT", "DELETE"}) {
    if (method == known) return method;
  }
  return "other";
}

void HttpRoutes::handle(const HttpRequest& request, HttpRespond respond) const {
  const bool is_web = !parts_.web.is_empty() && WebFiles::is_page_or_file(request.path);
  const std::string route = is_web ? "dashboard" : router_.pattern_of(request);
  const auto began = std::chrono::steady_clock::now();
  HttpRespond answer = [this, method = known_method(request.method), route, began,
                        respond = std::move(respond)](HttpResponse response) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    parts_.requests.note(method, route.empty() ? "none" : route,
                         std::to_string(response.status / 100) + "xx", took.count());
    respond(std::move(response));
  };
  if (is_web) return answer(show(request));
  if (auto elsewhere = redirect_or_refuse(parts_.standing.get(), parts_.scheme, request)) {
    return answer(std::move(*elsewhere));
  }
  if (!request.path.starts_with("/api/")) return router_.route(request, std::move(answer));
  answer = audited(request, route, std::move(answer));
  // Who shows what proves nothing again and again is answered for a while only. A page that asks
  // whether it has a session shows nothing.
  if (openapi_.is_for_anyone(request.method, route) && !request.body.empty()) {
    if (Status status = parts_.failures.may_try(request.peer); !status.is_ok()) {
      return answer(problem(status));
    }
    answer = [this, peer = request.peer, answer = std::move(answer)](HttpResponse response) {
      if (response.status == http_status(Code::unauthenticated)) parts_.failures.note(peer);
      answer(std::move(response));
    };
  }
  const bool is_submit = submits_.contains(request.method + " " + route);
  const auto kind = is_submit ? Admission::Kind::submit : Admission::Kind::other;
  const std::string user = parts_.callers.user_of(caller_of(request));
  // An answer that goes on, such as a stream of events, is under way only until it begins.
  std::shared_ptr<Admitted> admitted =
      parts_.admission.enter(kind, user, Admission::weight(1, request.body.size()));
  if (admitted == nullptr) {
    return answer(problem(resource_exhausted("{}", parts_.admission.refusal(user))));
  }
  router_.route(request, [this, admitted, answer = std::move(answer)](HttpResponse response) {
    admitted->release();
    mark_stale(parts_.standing.get(), response);
    answer(std::move(response));
  });
}

}  // namespace hai
