// Signing in and out for pages: the token of a session goes into a cookie that scripts cannot read.

#include "proto/json/json_reader.h"
#include "server/api/audit_words.h"
#include "server/api/caller_board.h"
#include "server/auth/token.h"
#include "server/http/cookies.h"
#include "server/http/routes.h"
#include "server/http/run_operation.h"

namespace hai {

namespace {

// Whether the request comes from a page of this server, or from no page at all. Browsers say so,
// and let no script say otherwise; older ones, and all over plain text, name the page's origin
// only.
Status check_same_origin(const HttpRequest& http) {
  const std::string_view site = http.header("sec-fetch-site");
  const bool is_own = site.empty() ? is_from_here(http) : site == "same-origin" || site == "none";
  return is_own ? ok() : permission_denied("another page may not sign anybody in");
}

HttpResponse session_response(const HttpParts& parts, v1::SignInReply reply,
                              const std::string& secret) {
  HttpResponse response;
  if (!reply.secret().empty()) {
    const int64_t left_us = reply.expires_at_us() - to_micros(parts.loop.wall_now());
    response.headers.emplace_back("Set-Cookie",
                                  set_session_cookie(parts, reply.secret(), Duration(left_us)));
  } else {
    reply.set_csrf(csrf_of(secret));
  }
  response.body = to_json_text(reply) + "\n";
  return response;
}

// Without a proof it is the session of the cookie that is answered: a page that was loaded anew
// asks for what it has to say with changes. Another page gets no cookie along, by SameSite.
void sign_in(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  v1::SignInRequest request;
  Status status = check_same_origin(http);
  if (status.is_ok() && !http.body.empty()) status = read_json(http.body, {}, request);
  if (!status.is_ok()) return respond(problem(status));
  tell_request(request, *http.facts);
  const std::string secret(session_cookie(http));
  const bool has_proof = request.proof_case() != v1::SignInRequest::PROOF_NOT_SET;
  Caller caller;
  if (!has_proof && !secret.empty()) caller = {.token_hash = hash_token(secret)};
  if (!has_proof) status = parts.callers.admit(caller);
  if (!status.is_ok()) return respond(problem(status));
  run_prepared<v1::SignInReply>(
      parts, caller, parts.operations.SignIn(request), respond,
      [&parts, secret, respond, facts = http.facts](Result<Fill<v1::SignInReply>> fill) {
        if (!fill.is_ok()) return respond(problem(fill.status()));
        v1::SignInReply reply;
        fill.value()(reply);
        tell_reply(reply, *facts);
        respond(session_response(parts, std::move(reply), secret));
      });
}

void sign_out(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  run_prepared<v1::SignOutReply>(parts, caller_of(http), parts.operations.SignOut({}), respond,
                                 [&parts, respond](Result<Fill<v1::SignOutReply>> fill) {
                                   if (!fill.is_ok()) return respond(problem(fill.status()));
                                   HttpResponse response{.status = 204};
                                   response.headers.emplace_back("Set-Cookie",
                                                                 set_session_cookie(parts, "", 0s));
                                   respond(std::move(response));
                                 });
}

}  // namespace

std::string set_session_cookie(const HttpParts& parts, std::string_view secret, Duration life) {
  return set_cookie({.name = kSessionCookie,
                     .value = secret,
                     .life = life,
                     .is_secure = parts.scheme == "https"});
}

void add_session_routes(HttpRouter& router, const HttpParts& parts) {
  add_by_hand(router, "SignIn",
              [&parts](const HttpRequest& http, const HttpRouter::Parameters&,
                       HttpRespond respond) { sign_in(parts, http, respond); });
  add_by_hand(router, "SignOut",
              [&parts](const HttpRequest& http, const HttpRouter::Parameters&,
                       HttpRespond respond) { sign_out(parts, http, respond); });
}

}  // namespace hai
