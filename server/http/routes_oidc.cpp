// Signing in at the site's identity provider, for browsers: the way there, and the way back. What
// goes wrong is a page with one sentence, since a person looks at it.

#include "common/text_check.h"
#include "server/api/call_queue.h"
#include "server/api/failure_limit.h"
#include "server/api/oidc_sign_in.h"
#include "server/http/cookies.h"
#include "server/http/html.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

constexpr const char* kTicketCookie = "hai_oidc";
constexpr const char* kPath = "/api/v1/oidc";  // where the browser shows that cookie

// The browser must not keep these answers, nor tell others where it was.
void add_privacy(HttpResponse& response) {
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
}

HttpResponse page(const Status& status) {
  Html html;
  html.raw(
          "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>hai</title>"
          "<p>You are not signed in: ")
      .text(status.message())
      .raw(".</p><p><a href=\"/\">Back</a></p></html>\n");
  HttpResponse response = text_response(html.take(), "text/html");
  response.status = http_status(status.code());
  response.error = status;
  response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  add_privacy(response);
  return response;
}

HttpResponse go_to(const std::string& location) {
  HttpResponse response = text_response("");
  response.status = 302;
  response.headers.emplace_back("Location", location);
  add_privacy(response);
  return response;
}

// Lax: shown when the provider sends the browser back, and with no other request of another site.
std::string ticket_cookie(const HttpParts& parts, const std::string& ticket, Duration life) {
  return set_cookie({.name = kTicketCookie,
                     .value = ticket,
                     .path = kPath,
                     .life = life,
                     .is_secure = parts.scheme == "https",
                     .same_site = "Lax"});
}

// As the provider knows it: told in the config, else by what others reach this server, else as the
// browser did.
std::string redirect_url(const HttpParts& parts, const HttpRequest& request) {
  const std::string& told = parts.oidc->config().redirect_url;
  if (!told.empty()) return told;
  const std::string host =
      parts.http_address.empty() ? std::string(request.header("host")) : parts.http_address;
  return fmt::format("{}://{}{}/callback", parts.scheme, host, kPath);
}

// What the provider says when it sends a person back without a code.
Status refusal(const HttpRequest& request) {
  const std::string error = printable(request.query_value("error").substr(0, 100));
  if (error == "access_denied") return permission_denied("the identity provider refused it");
  return failed_precondition("the identity provider says {}", error);
}

void begin(const HttpParts& parts, const HttpRequest& request, const HttpRespond& respond) {
  const std::string next(request.query_value("next"));
  parts.queue.post("", [&parts, next = next.empty() ? "/" : next, peer = request.peer,
                        url = redirect_url(parts, request), respond] {
    parts.oidc->begin(peer, next, url, [&parts, respond](Result<OidcSignIn::Begun> begun) {
      if (!begun.is_ok()) return respond(page(begun.status()));
      HttpResponse response = go_to(begun.value().location);
      response.headers.emplace_back(
          "Set-Cookie", ticket_cookie(parts, begun.value().ticket, OidcSignIn::kTicketLife));
      respond(std::move(response));
    });
  });
}

void open(const HttpParts& parts, const OidcSignIn::Finished& finished, const HttpRespond& answer) {
  parts.sign_in.open(finished.person,
                     [&parts, next = finished.next, answer](Result<SignInDesk::Session> session) {
                       if (!session.is_ok()) return answer(page(session.status()));
                       const Duration life = session.value().expires_at - parts.loop.wall_now();
                       HttpResponse response = go_to(next);
                       response.headers.emplace_back(
                           "Set-Cookie", set_session_cookie(parts, session.value().secret, life));
                       answer(std::move(response));
                     });
}

void finish(const HttpParts& parts, const HttpRequest& request, const HttpRespond& respond) {
  // Used or not, it is of no more use.
  auto answer = [&parts, respond](HttpResponse response) {
    response.headers.emplace_back("Set-Cookie", ticket_cookie(parts, "", 0s));
    respond(std::move(response));
  };
  // A way back that is made up costs a question to the provider: so many of one address.
  if (const Status may = parts.failures.may_try(request.peer); !may.is_ok()) {
    return answer(page(may));
  }
  if (!request.query_value("error").empty()) return answer(page(refusal(request)));
  const OidcSignIn::Return back{.ticket = std::string(cookie_of(request, kTicketCookie)),
                                .state = std::string(request.query_value("state")),
                                .code = std::string(request.query_value("code")),
                                .issuer = std::string(request.query_value("iss"))};
  parts.queue.post("", [&parts, back, peer = request.peer, facts = request.facts, answer] {
    parts.oidc->finish(peer, back,
                       [&parts, peer, facts, answer](Result<OidcSignIn::Finished> finished) {
                         if (!finished.is_ok()) {
                           // Not what is the provider\'s: who waits for it has tried nothing wrong.
                           if (finished.status().code() == Code::unauthenticated)
                             parts.failures.note(peer);
                           return answer(page(finished.status()));
                         }
                         facts->user = finished.value().person.user;
                         facts->target = audit_target("user", facts->user);
                         open(parts, finished.value(), answer);
                       });
  });
}

}  // namespace

void add_oidc_routes(HttpRouter& router, const HttpParts& parts) {
  const auto add = [&](const char* name, auto handle) {
    router.add("GET", fmt::format("{}/{}", kPath, name),
               [&parts, handle](const HttpRequest& request, const Parameters&,
                                const HttpRespond& respond) {
                 if (parts.oidc == nullptr) {
                   return respond(page(not_found("this cluster has no identity provider")));
                 }
                 handle(parts, request, respond);
               });
  };
  add("login", begin);
  add("callback", finish);
}

}  // namespace hai
