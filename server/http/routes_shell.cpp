// A browser's way into a rank: a WebSocket (web_shell.h).

#include "server/api/audit_trail.h"
#include "server/auth/token.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"
#include "server/http/web_shell.h"

namespace hai {
namespace {

void open_shell(const HttpParts& parts, const HttpRequest& request, const std::string& job,
                const HttpRespond& respond) {
  if (!is_for_socket(request)) {
    return respond(problem(failed_precondition(
        "this takes a WebSocket: the dashboard has one, `hai shell` works without")));
  }
  if (!is_from_here(request)) {
    return respond(problem(permission_denied("a page of {} may not open a shell here",
                                             request.header("origin").substr(0, 200))));
  }
  const bool is_by_cookie = request.header("authorization").empty();
  const std::string csrf = is_by_cookie ? csrf_of(session_cookie(request)) : "";
  const auto refused = [&parts, caller = caller_of(request), peer = request.peer,
                        target = audit_target("job", job)](const Status& why) {
    parts.audit.note(
        {.caller = caller, .address = peer, .name = kShellCall, .facts = {.target = target}}, why);
  };
  HttpResponse response{.status = 101};
  response.socket =
      [&parts, caller = caller_of(request), peer = request.peer,
       opening = WebShell::Opening{job, csrf, refused}](std::shared_ptr<HttpSocket> socket) {
        auto shell = std::make_shared<WebShell>(parts.loop, std::move(socket), opening);
        parts.loop.post([&parts, shell, caller, peer] {
          shell->begin([&](const std::shared_ptr<ShellPeer>& person) {
            return parts.open_shell(person, caller, peer);
          });
        });
      };
  respond(std::move(response));
}

}  // namespace

void add_shell_route(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/jobs/{id}/shell",
             [&parts](const HttpRequest& request, const HttpRouter::Parameters& parameters,
                      const HttpRespond& respond) {
               open_shell(parts, request, parameters.at("id"), respond);
             });
}

}  // namespace hai
