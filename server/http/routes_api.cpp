// Every route that proto/hai/v1/api.proto names: its request read by the descriptor of the message,
// its operation run, its reply written as JSON.

#include "proto/json/call_options.h"
#include "proto/json/json_reader.h"
#include "server/http/routes.h"
#include "server/http/run_operation.h"

namespace hai {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Parameters = HttpRouter::Parameters;

Status read_request(const v1::Route& route, const HttpRequest& http, const Parameters& parameters,
                    Message& request) {
  for (const std::string& preset : route.preset()) read_preset(preset, request);
  std::set<std::string> taken;
  for (const auto& [name, value] : parameters) {
    RETURN_IF_ERROR(read_parameter(name, value, request));
    taken.insert(name);
  }
  if (route.has_put() && http.body.empty()) return invalid_argument("the body is missing");
  if (route.has_post() || route.has_put()) return read_json(http.body, taken, request);
  for (const auto& [name, value] : http.query) {
    RETURN_IF_ERROR(read_parameter(name, value, request));
  }
  return ok();
}

// "fields": which of each item are wanted, separated by commas; none = all.
Result<JsonFilter> filter_of(const HttpRequest& http, const Descriptor* reply) {
  constexpr size_t kFieldsMax = 64;
  JsonFilter filter;
  std::string_view text = http.query_value("fields");
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) filter.names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (filter.names.size() > kFieldsMax) {
      return invalid_argument("fields: at most {}", kFieldsMax);
    }
  }
  for (int i = 0; i < reply->field_count() && filter.type == nullptr; ++i) {
    const FieldDescriptor* field = reply->field(i);
    if (field->is_repeated()) filter.type = field->message_type();
  }
  return filter;
}

template <typename Request, typename Reply>
void add_routes(HttpRouter& router, const HttpParts& parts, const char* name,
                Prepared<Reply> (Operations::*operation)(const Request&)) {
  const google::protobuf::MethodOptions& options = call_named(name).options();
  for (int i = 0; i < options.ExtensionSize(v1::route); ++i) {
    const v1::Route& route = options.GetExtension(v1::route, i);
    if (route.by_hand()) continue;
    const RoutePattern pattern = pattern_of(route);
    router.add(pattern.method, pattern.path,
               [&parts, &route, operation](const HttpRequest& http, const Parameters& parameters,
                                           HttpRespond respond) {
                 Request request;
                 const Status read = read_request(route, http, parameters, request);
                 tell_request(request, *http.facts);
                 if (!read.is_ok()) return respond(problem(read));
                 Result<JsonFilter> filter = filter_of(http, Reply::descriptor());
                 if (!filter.is_ok()) return respond(problem(filter.status()));
                 run_operation(parts, caller_of(http), (parts.operations.*operation)(request),
                               respond, {.status = route.status(), .filter = filter.value()},
                               http.facts);
               });
  }
}

}  // namespace

void add_by_hand(HttpRouter& router, const char* call, const HttpRouter::Handler& handler) {
  for (const v1::Route& route : call_named(call).options().GetRepeatedExtension(v1::route)) {
    CHECK(route.by_hand());
    const RoutePattern pattern = pattern_of(route);
    router.add(pattern.method, pattern.path, handler);
  }
}

void add_api_routes(HttpRouter& router, const HttpParts& parts) {
#define HAI_ROUTES(name, Request, Reply) \
  add_routes<v1::Request, v1::Reply>(router, parts, #name, &Operations::name);
  HAI_OPERATIONS(HAI_ROUTES)
#undef HAI_ROUTES
}

}  // namespace hai
