#include "server/http/router.h"

#include <fmt/core.h>

#include <set>

#include "server/http/problem.h"

namespace hai {

namespace {

// A second slash makes an empty segment: "//api" is no other name for "/api", which others look for
// at the beginning of the path.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

bool is_parameter(const std::string& segment) { return segment.starts_with('{'); }

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
             HttpRouter::Parameters& parameters) {
  if (pattern.size() != path.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (!is_parameter(pattern[i])) {
      if (pattern[i] != path[i]) return false;
    } else if (path[i].empty()) {
      return false;
    } else {
      parameters[pattern[i].substr(1, pattern[i].size() - 2)] = path[i];
    }
  }
  return true;
}

bool is_meant(const std::string& method, const std::string& asked) {
  return method == asked || (method == "GET" && asked == "HEAD");
}

}  // namespace

void HttpRouter::add(std::string_view method, std::string_view pattern, Handler handler) {
  routes_.push_back({std::string(method), std::string(pattern), split_path(pattern),
                     std::move(handler), nullptr});
}

void HttpRouter::add_checks(const CheckOf& check_of) {
  for (Route& route : routes_) route.check = check_of(route.method, route.pattern);
}

std::string HttpRouter::pattern_of(const HttpRequest& request) const {
  const std::vector<std::string> path = split_path(request.path);
  std::string of_another_method;
  for (const Route& route : routes_) {
    Parameters ignored;
    if (!matches(route.segments, path, ignored)) continue;
    if (is_meant(route.method, request.method)) return route.pattern;
    if (of_another_method.empty()) of_another_method = route.pattern;
  }
  return of_another_method;
}

void HttpRouter::route(const HttpRequest& request, HttpRespond respond) const {
  const std::vector<std::string> path = split_path(request.path);
  std::set<std::string> methods;
  for (const Route& route : routes_) {
    Parameters parameters;
    if (!matches(route.segments, path, parameters)) continue;
    const bool is_it = is_meant(route.method, request.method);
    if (is_it && route.check) {
      if (Status status = route.check(request); !status.is_ok()) return respond(problem(status));
    }
    if (is_it) return route.handler(request, parameters, respond);
    methods.insert(route.method);
  }
  if (methods.empty()) {
    return respond(problem(not_found("nothing is served at {}", request.path)));
  }
  std::string allowed;
  for (const std::string& method : methods) allowed += (allowed.empty() ? "" : ", ") + method;
  HttpResponse response =
      problem(405, "method_not_allowed", fmt::format("{} allows {}", request.path, allowed));
  response.headers.emplace_back("Allow", allowed);
  respond(std::move(response));
}

}  // namespace hai
