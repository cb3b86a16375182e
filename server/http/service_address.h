#pragma once
// Addresses below the port for services: /jobs/JOB/NAME/REST. Which service one means, and what the
// headers of a service say as seen from outside. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace hai {

struct ServiceAddress {
  std::string job;      // id or name
  std::string service;  // its name, or a port of rank 0
  std::string rest;     // with its '/' and the query; "" = the address ends with the name
};

// Of a request's target; nullopt: it is none.
std::optional<ServiceAddress> parse_service_address(std::string_view target);

// A service as it is seen from outside: below a path.
struct ServicePlace {
  std::string prefix;       // "/jobs/17/jupyter", without the last '/'
  bool is_cut_off = false;  // before the service is asked: it does not know of it

  // Of a service's own path, as "/login".
  std::string path_of(std::string_view own) const;
};

// The value of a Location header. `host`: what the client calls us.
std::string location_outside(std::string_view location, std::string_view host,
                             const ServicePlace& place);

// The value of a Set-Cookie header: below the service's path only, and of nobody else. nullopt: it
// has a name of hai's, or none.
std::optional<std::string> cookie_outside(std::string_view cookie, const ServicePlace& place);

// The value of a Cookie header without hai's own: no job sees its user's session. "" = nothing is
// left.
std::string cookies_inside(std::string_view cookies);

}  // namespace hai
