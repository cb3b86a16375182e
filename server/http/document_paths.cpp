#include "server/http/document_paths.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/check.h"
#include "hai/v1/api.pb.h"
#include "proto/json/call_options.h"
#include "server/api/call_needs.h"
#include "server/http/message_schema.h"

namespace hai {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::MethodDescriptor;

Json part(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

const v1::JsonOptions& options_of(const JsonField& field) {
  return field.field->options().GetExtension(v1::json);
}

Json described(const JsonField& field, const ProtoComments& comments, Json schema) {
  const std::string about = comments.of(*field.field);
  if (!about.empty()) schema["description"] = about;
  return schema;
}

// What the request says where the client says nothing; "" = nothing.
std::string preset_of(const v1::Route& route, const JsonField& field) {
  const std::string begin = field.field->name() + "=";
  for (const std::string& preset : route.preset()) {
    if (preset.starts_with(begin)) return preset.substr(begin.size());
  }
  return "";
}

// A parameter: as the document describes all of that name or, if it does not, by the field itself.
Json parameter_of(const JsonField& field, const std::string& in, const v1::Route& route,
                  const ProtoComments& comments, const Json& known) {
  const std::string preset = preset_of(route, field);
  const auto found = known.find(in == "path" ? field.field->name() : field.name);
  const bool is_known =
      found != known.end() && (*found)["in"] == in && !options_of(field).has_limits();
  if (is_known && preset.empty()) return part("parameters", found.key());
  Json parameter = described(
      field, comments,
      Json{{"name", field.name}, {"in", in}, {"required", in == "path" || field.is_required}});
  parameter["schema"] = is_known ? Json((*found)["schema"]) : request_schema(field);
  if (!preset.empty()) parameter["schema"]["default"] = option_value(field, preset);
  const std::string& example = options_of(field).limits().example();
  if (!example.empty()) parameter["example"] = example;
  return parameter;
}

// The fields that a body or a query may name.
template <typename Use>
void for_each_free_field(const Descriptor* request, const std::set<std::string>& taken, Use use) {
  for (const JsonField& field : json_plan_of(request).fields) {
    if (!field.is_hidden && !taken.contains(field.name)) use(field);
  }
}

Json body_field(const JsonField& field, const ProtoComments& comments) {
  const v1::Limits& limits = options_of(field).limits();
  if (field.field->real_containing_oneof() != nullptr && field.kind == JsonField::Kind::boolean) {
    return {{"const", true}};
  }
  Json schema = request_schema(field);
  if (field.negative_is_null) schema = or_null(std::move(schema));
  if (field.field->is_repeated()) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
    if (field.is_required) schema["minItems"] = 1;
    if (limits.items() > 0) schema["maxItems"] = limits.items();
  }
  return described(field, comments, std::move(schema));
}

// Null if nothing is left to say.
Json body_of(const Descriptor* request, const std::set<std::string>& taken, bool is_required,
             const ProtoComments& comments) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  for_each_free_field(request, taken, [&](const JsonField& field) {
    schema["properties"][field.name] = body_field(field, comments);
    if (field.is_required) schema["required"].push_back(field.name);
    if (field.field->real_containing_oneof() != nullptr) {
      schema["description"] = "exactly one of these";
    }
  });
  if (!schema.contains("properties")) return nullptr;
  Json body = {{"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
  const Json& made = body["content"]["application/json"]["schema"];
  if (is_required || made.contains("required") || made.contains("description")) {
    body["required"] = true;
  }
  return body;
}

Json responses_of(const Descriptor* reply, int status) {
  const bool is_empty = reply->field_count() == 0;
  if (status == 0) status = is_empty ? 204 : 200;
  Json answer = {{"description", is_empty ? "It is done" : reply->name()}};
  if (!is_empty) answer["content"]["application/json"]["schema"] = schema_ref(reply->name());
  return {{std::to_string(status), std::move(answer)}, {"default", part("responses", "Problem")}};
}

// GetJob → get_job
std::string words_of(std::string_view name) {
  std::string words;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !words.empty()) words += '_';
    words += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

void add_route(const MethodDescriptor& call, const v1::Route& route, const ProtoComments& comments,
               Json& document) {
  const auto [method, path] = pattern_of(route);
  std::string verb = method;
  std::ranges::transform(verb, verb.begin(), [](char c) { return static_cast<char>(c + 32); });
  Json& operation = document["paths"][path][verb];
  operation["operationId"] = route.id().empty() ? words_of(call.name()) : route.id();
  operation["x-role"] = route.role();
  if (route.role() != "anyone") operation["x-scope"] = to_string(needs_of(call.name()).scope);
  operation["summary"] = comments.of(call);

  const Json& known = document["components"]["parameters"];
  const std::set<std::string> in_path = names_in(path);
  Json parameters = Json::array();
  for (const std::string& name : in_path) {
    const JsonField* field = json_plan_of(call.input_type()).find(name);
    CHECK(field != nullptr);  // what stands in a path is a field of the request
    parameters.push_back(parameter_of(*field, "path", route, comments, known));
  }
  if (route.has_get()) {
    for_each_free_field(call.input_type(), in_path, [&](const JsonField& field) {
      parameters.push_back(parameter_of(field, "query", route, comments, known));
    });
  }
  for (Json& by_hand : operation["parameters"]) parameters.push_back(std::move(by_hand));
  operation.erase("parameters");
  if (!parameters.empty()) operation["parameters"] = std::move(parameters);

  if (route.by_hand()) {
    const auto [first_method, first_path] = pattern_of(call.options().GetExtension(v1::route, 0));
    if (path != first_path) {  // another name of the same
      operation = document["paths"][first_path][verb];
      operation["operationId"] = route.id();
      operation["deprecated"] = true;
    }
    operation["responses"]["default"] = part("responses", "Problem");
    return;
  }
  if (route.has_post() || route.has_put()) {
    Json body = body_of(call.input_type(), in_path, route.has_put(), comments);
    if (!body.is_null()) operation["requestBody"] = std::move(body);
  }
  operation["responses"] = responses_of(call.output_type(), route.status());
}

// The verbs for one thing: a path for each value of an enumeration, which is a schema too.
struct Verbs {
  std::string call;    // of the same for many; its request's field "verb" has the enumeration
  std::string thing;   // "job"
  std::string things;  // the field of the request that names many
  std::string path;    // of one, up to the verb
};

void add_verbs(const Verbs& verbs, const ProtoComments& comments, Json& document) {
  const MethodDescriptor& call = call_named(verbs.call);
  const Descriptor* request = call.input_type();
  const JsonField& field = *json_plan_of(request).find("verb");
  Json words = Json::array();
  for (const auto& [number, word] : field.words) {
    if (number == 0) continue;  // unspecified
    words.push_back(word);
    const std::set<std::string> taken = taken_by_verb(request, verbs.things, word);
    document["paths"][verbs.path + word]["post"] = {
        {"operationId", word + "_" + verbs.thing},
        {"x-role", call.options().GetExtension(v1::route, 0).role()},
        {"x-scope", to_string(needs_of(verbs.call).scope)},
        {"summary", comments.of(*field.field->enum_type(), number)},
        {"parameters", Json::array({part("parameters", verbs.thing)})},
        {"requestBody", body_of(request, taken, false, comments)},
        {"responses",
         {{"200", part("responses", verbs.thing == "job" ? "Job" : "Node")},
          {"default", part("responses", "Problem")}}}};
  }
  document["components"]["schemas"][options_of(field).words()] = {{"type", "string"},
                                                                  {"enum", std::move(words)}};
}

}  // namespace

void add_paths(const ProtoComments& comments, Json& document) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) {
    const MethodDescriptor& call = *api->method(i);
    for (int k = 0; k < call.options().ExtensionSize(v1::route); ++k) {
      add_route(call, call.options().GetExtension(v1::route, k), comments, document);
    }
  }
  add_verbs({"ControlJob", "job", "jobs", "/api/v1/jobs/{id}/"}, comments, document);
  add_verbs({"ControlNode", "node", "nodes", "/api/v1/nodes/{name}/"}, comments, document);
}

}  // namespace hai
