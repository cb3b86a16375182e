#pragma once
// What is served over HTTP: what proto/hai/v1/api.proto names (routes_api.cpp), and the rest by
// hand. Handlers run on the HTTP server's thread; whatever asks the state posts to the loop.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/loop.h"
#include "server/api/shell_peer.h"
#include "server/control/command.h"
#include "server/http/http_message.h"
#include "server/http/openapi.h"
#include "server/http/router.h"

namespace hai {

class Admission;
class AuditTrail;
class Advisor;
class CallQueue;
class CallerBoard;
class CertificateWatch;
class Controller;
class FailureLimit;
class LogRouter;
class RequestMeter;
class EventHub;
class OpenStreams;
class Observatory;
class OidcSignIn;
class Operations;
class Queries;
class SignInDesk;
class StandingBoard;
class WebFiles;

struct HttpParts {
  Loop& loop;
  const StandingBoard& standing;
  const CallerBoard& callers;
  Controller& controller;
  Observatory& observatory;
  EventHub& events;
  OpenStreams& streams;
  RequestMeter& requests;
  const RequestMeter& calls;  // those of gRPC
  AuditTrail& audit;
  // How many entries of the audit log each place of its export lacks; null = there is none.
  std::function<std::map<std::string, int64_t>()> audit_backlog;
  Admission& admission;
  CallQueue& queue;        // the way to the loop for what people ask
  FailureLimit& failures;  // of those who sign in or join
  Operations& operations;
  Queries& queries;
  Advisor& advisor;
  LogRouter& logs;
  std::function<size_t()> agent_count;  // called on the loop's thread
  // Why gRPC's port takes no connections, "" = it does; from any thread. Null = there is none.
  std::function<std::string()> grpc_trouble;
  std::string_view scheme;   // of all servers of the cluster: "http" or "https"
  std::string http_address;  // where others reach this server; "" = not known
  // Somebody who was let in wants into a rank (rpc/shells.h); called on the loop's thread.
  std::function<ShellPeer::Events(const std::shared_ptr<ShellPeer>&, const Caller&,
                                  const std::string& address)>
      open_shell;
  SignInDesk& sign_in;
  const CertificateWatch* certificates = nullptr;  // nullptr = it tells of none
  OidcSignIn* oidc = nullptr;                      // nullptr = the site has no identity provider
  const WebFiles& web;                             // the dashboard; empty = not built or not wanted
  // "/" shows totals and nodes to anybody who reaches the port where there is no dashboard.
  bool has_status_page = false;
};

// The route of a call that is served by hand (options.proto).
void add_by_hand(HttpRouter& router, const char* call, const HttpRouter::Handler& handler);

// The Set-Cookie header with the token of a session; life 0 = it is taken away.
std::string set_session_cookie(const HttpParts& parts, std::string_view secret, Duration life);

// Each adds its routes. `parts` outlives the router.
void add_health_routes(HttpRouter& router, const HttpParts& parts);
void add_api_routes(HttpRouter& router, const HttpParts& parts);
void add_job_routes(HttpRouter& router, const HttpParts& parts);
void add_verb_routes(HttpRouter& router, const HttpParts& parts);
void add_oidc_routes(HttpRouter& router, const HttpParts& parts);
void add_event_routes(HttpRouter& router, const HttpParts& parts);
void add_session_routes(HttpRouter& router, const HttpParts& parts);
void add_shell_route(HttpRouter& router, const HttpParts& parts);
void add_status_page(HttpRouter& router, const HttpParts& parts);

class HttpRoutes {
 public:
  explicit HttpRoutes(HttpParts parts);
  const HttpParts& parts() const { return parts_; }
  void handle(const HttpRequest& request, HttpRespond respond) const;
  // On the port that everybody reaches: where health has a port of its own, metrics are there, and
  // here only for who is known.
  void handle_public(const HttpRequest& request, bool has_health_port, HttpRespond respond) const;
  // What is answered without a look at the body: that of another server, or that the caller is not
  // known.
  std::optional<HttpResponse> turn_away(const HttpRequest& head) const;

 private:
  Status admit(const HttpRequest& request) const;
  HttpResponse show(const HttpRequest& request) const;
  // The call that a request of this route is; "" for none.
  std::string call_of(const std::string& method, const std::string& route) const;
  HttpRespond audited(const HttpRequest& request, const std::string& route,
                      HttpRespond respond) const;

  const HttpParts parts_;
  const Openapi openapi_;
  const std::set<std::string> submits_;             // "POST /api/v1/jobs"
  const std::map<std::string, std::string> calls_;  // which call each such route is
  HttpRouter router_;
};

}  // namespace hai
