#pragma once
// Who is let through to which service, as whoever carries the bytes needs it.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "common/loop.h"
#include "server/api/shell_peer.h"
#include "server/control/command.h"
#include "server/http/http_message.h"

namespace hai {

struct ServiceWay {
  std::string job;      // id or name
  std::string service;  // a name or a port
  std::string rest;     // of the address, with its '/' and the query
  Caller caller;
  std::string user;          // of the caller
  bool is_by_token = false;  // by the Authorization header, which is then nothing for the service
  bool operator==(const ServiceWay& other) const {
    return job == other.job && service == other.service &&
           caller.token_hash == other.caller.token_hash;
  }
};

struct ServiceGate {
  Loop& loop;
  std::string_view scheme;  // of our own: "http" or "https"
  // On the HTTP server's thread: the way, or the answer to whoever gets none.
  std::function<std::variant<ServiceWay, HttpResponse>(const HttpRequest& head)> judge;
  // Somebody who was let in wants into a rank; on the loop's thread.
  std::function<ShellPeer::Events(const std::shared_ptr<ShellPeer>&, const Caller&,
                                  const std::string& address)>
      open_shell;
  // An error as a browser shows it, or as JSON. Of what may pass the page looks again by itself.
  std::function<HttpResponse(const Status&, const HttpRequest& head)> problem;
};

inline HttpResponse redirection(std::string location) {
  HttpResponse response{.status = 307, .content_type = "text/plain"};
  response.headers.emplace_back("Location", std::move(location));
  return response;
}

}  // namespace hai
