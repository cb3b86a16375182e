#pragma once
// What the calls of the Api say of themselves in their options (proto/hai/v1/options.proto).

#include <functional>
#include <set>
#include <string>

#include "common/check.h"
#include "hai/v1/api.pb.h"
#include "proto/json/json_plan.h"

namespace hai {

struct RoutePattern {
  const char* method;
  std::string path;
};

inline RoutePattern pattern_of(const v1::Route& route) {
  switch (route.pattern_case()) {
    case v1::Route::kGet:
      return {"GET", route.get()};
    case v1::Route::kPost:
      return {"POST", route.post()};
    case v1::Route::kPut:
      return {"PUT", route.put()};
    case v1::Route::kDelete:
      return {"DELETE", route.delete_()};
    default:
      CHECK(false);  // a route without a pattern
  }
}

// A call of the Api by its name.
inline const google::protobuf::MethodDescriptor& call_named(const std::string& name) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  const auto* call = api->FindMethodByName(name);
  CHECK(call != nullptr);
  return *call;
}

// Whether the call lets in callers whom nobody knows: what they show is judged by the call itself.
inline bool is_for_anyone(const google::protobuf::MethodDescriptor& call) {
  const google::protobuf::MethodOptions& options = call.options();
  for (const v1::Route& route : options.GetRepeatedExtension(v1::route)) {
    if (route.role() == "anyone") return true;
  }
  return false;
}

// The paths by which gRPC knows those calls: "/hai.v1.Api/SignIn".
inline std::set<std::string, std::less<>> paths_for_anyone() {
  std::set<std::string, std::less<>> paths;
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) {
    const auto* call = api->method(i);
    if (is_for_anyone(*call)) paths.insert("/" + api->full_name() + "/" + call->name());
  }
  return paths;
}

// "POST /api/v1/jobs": the routes that count as submits.
inline std::set<std::string> submit_routes() {
  std::set<std::string> routes;
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) {
    const google::protobuf::MethodOptions& options = api->method(i)->options();
    if (!options.GetExtension(v1::is_submit)) continue;
    for (const v1::Route& route : options.GetRepeatedExtension(v1::route)) {
      const RoutePattern pattern = pattern_of(route);
      routes.insert(pattern.method + (" " + pattern.path));
    }
  }
  return routes;
}

// What stands in the braces of a path.
inline std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (size_t at = path.find('{'); at != std::string::npos; at = path.find('{', at + 1)) {
    names.insert(path.substr(at + 1, path.find('}', at) - at - 1));
  }
  return names;
}

// What the body of a verb for one thing may not say: the verb and the thing, which stand in the
// path, and what goes with other verbs.
inline std::set<std::string> taken_by_verb(const google::protobuf::Descriptor* request,
                                           const std::string& things, const std::string& verb) {
  std::set<std::string> taken = {things, "verb"};
  for (const JsonField& field : json_plan_of(request).fields) {
    const std::string& only_of = field.field->options().GetExtension(v1::json).only_of();
    if (!only_of.empty() && only_of != verb) taken.insert(field.name);
  }
  return taken;
}

}  // namespace hai
