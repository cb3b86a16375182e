#include "server/http/service_desk.h"

#include "common/host_port.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "server/api/standing_board.h"
#include "server/auth/token.h"
#include "server/http/html.h"
#include "server/http/problem.h"
#include "server/http/route_help.h"
#include "server/http/service_address.h"

namespace hai {
namespace {

constexpr std::string_view kAgainSeconds = "3";

bool wants_html(const HttpRequest& head) {
  return head.header("accept").find("text/html") != std::string_view::npos;
}

bool may_pass(Code code) {
  return code == Code::failed_precondition || code == Code::unavailable ||
         code == Code::deadline_exceeded || code == Code::resource_exhausted;
}

// `link`: where the reader may go on. The cookie is with what our own pages lead to, and not with
// what others do.
std::string page_of(std::string_view title, std::string_view text, std::string_view link = {},
                    bool looks_again = false) {
  Html html;
  html.raw(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>hai: ");
  html.text(title).raw("</title>");
  if (looks_again)
    html.raw("<meta http-equiv=\"refresh\" content=\"").text(kAgainSeconds).raw("\">");
  html.raw(
      "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
      "max-width:40rem;margin:15vh auto;padding:0 1rem}h1{font-size:1.3rem}</style></head>"
      "<body><h1>");
  html.text(title).raw("</h1><p>").text(text).raw("</p>");
  if (!link.empty()) html.raw("<p><a href=\"").text(link).raw("\">Go on</a></p>");
  if (looks_again)
    html.raw("<p>This page looks again every ").text(kAgainSeconds).raw(" seconds.</p>");
  html.raw("</body></html>\n");
  return html.take();
}

HttpResponse service_problem(const Status& status, const HttpRequest& head) {
  HttpResponse response = problem(status);
  const bool passes = may_pass(status.code());
  if (passes) {
    response.status = 503;
    response.headers.emplace_back("Retry-After", kAgainSeconds);
  }
  if (!wants_html(head)) return response;
  response.content_type = "text/html; charset=utf-8";
  response.body = passes ? page_of("Not there yet", status.message(), "", true)
                         : page_of("Not here", status.message());
  return response;
}

// Also with what the service itself wants in Authorization: it is hai's only as a bearer token of
// somebody hai knows.
ServiceWay way_of(const CallerBoard& callers, const HttpRequest& head) {
  ServiceWay way;
  if (const std::string_view token = bearer_token(head.header("authorization")); !token.empty()) {
    way.caller = {.token_hash = hash_token(token)};
    way.is_by_token = callers.knows(way.caller);
    if (way.is_by_token) return way;
  }
  const std::string_view secret = session_cookie(head);
  way.caller = secret.empty() ? Caller{} : Caller{.token_hash = hash_token(secret)};
  return way;
}

// The leader's services are at the same port as ours.
HttpResponse to_leader(const HttpParts& parts, const Standing& standing, const HttpRequest& head) {
  if (standing.leader.http.empty()) return service_problem(why_not_leading(standing), head);
  const std::string port = split_host_port(head.header("host")).port;
  std::string host = with_port(split_host_port(standing.leader.http).host, port);
  if (port.empty()) host.pop_back();  // the colon
  return redirection(fmt::format("{}://{}{}", parts.scheme, host, head.target));
}

HttpResponse sign_in_first(const HttpParts& parts, const HttpRequest& head, const Status& why) {
  if (!wants_html(head)) return problem(why);
  HttpResponse response = problem(why);
  const std::string host = split_host_port(head.header("host")).host;
  const std::string port = split_host_port(parts.http_address).port;
  response.content_type = "text/html; charset=utf-8";
  response.body = page_of(
      "Sign in first",
      fmt::format("This is a service of somebody's job. Sign in to the dashboard at {}://{} in "
                  "this browser, then go on.",
                  parts.scheme, with_port(host, port)),
      head.target);
  return response;
}

std::variant<ServiceWay, HttpResponse> judge(const HttpParts& parts, const HttpRequest& head) {
  const Standing standing = parts.standing.get();
  if (!standing.is_leading()) return to_leader(parts, standing, head);
  std::optional<ServiceAddress> address = parse_service_address(head.target);
  if (!address) {
    return service_problem(
        not_found("the services of jobs are at /jobs/JOB/NAME/ here, and nothing else is"), head);
  }
  ServiceWay way = way_of(parts.callers, head);
  // Whoever comes further is noted where he gets into the rank, or does not (rpc/shells.h).
  const auto note = [&](const Status& why) {
    parts.audit.note({.caller = way.caller,
                      .address = head.peer,
                      .name = kShellCall,
                      .facts = {.target = audit_target("job", address->job)}},
                     why);
  };
  if (const Status admitted = parts.callers.admit(way.caller); !admitted.is_ok()) {
    note(admitted);
    return sign_in_first(parts, head, admitted);
  }
  if (!way.is_by_token && !is_from_here(head)) {
    const Status why =
        permission_denied("a page of {} may not ask here", head.header("origin").substr(0, 200));
    note(why);
    return service_problem(why, head);
  }
  if (address->rest.empty()) {
    const size_t query = head.target.find('?');
    return redirection(fmt::format("/jobs/{}/{}/{}", address->job, address->service,
                                   query == std::string::npos ? "" : head.target.substr(query)));
  }
  way.user = parts.callers.user_of(way.caller);
  way.job = std::move(address->job);
  way.service = std::move(address->service);
  way.rest = std::move(address->rest);
  return way;
}

}  // namespace

ServiceGate make_service_gate(const HttpParts& parts) {
  return {.loop = parts.loop,
          .scheme = parts.scheme,
          .judge = [&parts](const HttpRequest& head) { return judge(parts, head); },
          .open_shell = parts.open_shell,
          .problem = service_problem};
}

}  // namespace hai
