#pragma once
// Finds the handler of a request. Patterns are paths whose segments may be parameters:
// "/api/v1/jobs/{id}/stop". Filled before the first request, read-only afterwards.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"

namespace hai {

class HttpRouter {
 public:
  using Parameters = std::map<std::string, std::string>;
  using Handler = std::function<void(const HttpRequest&, const Parameters&, HttpRespond)>;

  void add(std::string_view method, std::string_view pattern, Handler handler);

  // Calls the handler, or answers 404, or 405 with the methods the path has.
  void route(const HttpRequest& request, HttpRespond respond) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
  };
  std::vector<Route> routes_;
};

}  // namespace hai
