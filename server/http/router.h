#pragma once
// Finds the handler of a request. Patterns are paths whose segments may be parameters:
// "/api/v1/jobs/{id}/stop". Filled before the first request, read-only afterwards.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "server/http/http_message.h"

namespace hai {

class HttpRouter {
 public:
  using Parameters = std::map<std::string, std::string>;
  using Handler = std::function<void(const HttpRequest&, const Parameters&, HttpRespond)>;

  // What may stand before a route's handler: an error is the answer. By method and pattern.
  using Check = std::function<Status(const HttpRequest&)>;
  using CheckOf = std::function<Check(const std::string& method, const std::string& pattern)>;

  void add(std::string_view method, std::string_view pattern, Handler handler);

  // Of all routes added so far; an empty check lets everything pass.
  void add_checks(const CheckOf& check_of);

  // The pattern of the route that the request goes to, or which its path has with another method,
  // "" for none: few, whatever clients ask for.
  std::string pattern_of(const HttpRequest& request) const;

  // Calls the handler, or answers 404, or 405 with the methods the path has.
  void route(const HttpRequest& request, HttpRespond respond) const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> segments;
    Handler handler;
    Check check;
  };
  std::vector<Route> routes_;
};

}  // namespace hai
