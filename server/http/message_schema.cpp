#include "server/http/message_schema.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/check.h"
#include "hai/v1/api.pb.h"
#include "proto/json/json_plan.h"
#include "server/http/route_pattern.h"

// The .proto files with their comments, which generated code leaves out (proto/CMakeLists.txt).
extern "C" const char hai_api_descriptors[];
extern "C" const char hai_api_descriptors_end[];

namespace hai {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Comments of fields, values and calls, by their full names.
class Comments {
 public:
  Comments() {
    google::protobuf::FileDescriptorSet files;
    CHECK(files.ParseFromArray(hai_api_descriptors,
                               static_cast<int>(hai_api_descriptors_end - hai_api_descriptors)));
    for (const google::protobuf::FileDescriptorProto& file : files.file()) {
      CHECK(pool_.BuildFile(file) != nullptr);
    }
  }

  // In one line; "" if there is none.
  std::string of(const FieldDescriptor& field) const {
    return line_at(pool_.FindFieldByName(field.full_name()));
  }
  // Of a call: without the full stop, as a headline.
  std::string of(const google::protobuf::MethodDescriptor& call) const {
    std::string line = line_at(pool_.FindMethodByName(call.full_name()));
    if (line.ends_with('.')) line.pop_back();
    return line;
  }
  std::string of(const google::protobuf::EnumDescriptor& type, int number) const {
    const auto* known = pool_.FindEnumTypeByName(type.full_name());
    return known == nullptr ? "" : line_at(known->FindValueByNumber(number));
  }

 private:
  template <typename Known>
  static std::string line_at(const Known* known) {
    google::protobuf::SourceLocation place;
    if (known == nullptr || !known->GetSourceLocation(&place)) return "";
    std::string line;
    for (const char c : place.leading_comments + place.trailing_comments) {
      if (c != '\n' && (c != ' ' || (!line.empty() && line.back() != ' '))) line += c;
      if (c == '\n' && !line.empty() && line.back() != ' ') line += ' ';
    }
    while (line.ends_with(' ')) line.pop_back();
    return line;
  }

  google::protobuf::DescriptorPool pool_;
};

Json ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json part(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

Json or_null(Json schema) {
  if (schema.contains("type") && schema.size() == 1) {
    return {{"type", {schema["type"], "null"}}};
  }
  return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
}

Json value_schema(const JsonField& field) {
  const std::string words = field.field->options().GetExtension(v1::json).words();
  switch (field.kind) {
    case JsonField::Kind::boolean:
      return {{"type", "boolean"}};
    case JsonField::Kind::integer:
      return {{"type", "integer"}};
    case JsonField::Kind::real:
      return {{"type", "number"}};
    case JsonField::Kind::text:
      return words.empty() ? Json{{"type", "string"}} : ref(words);
    case JsonField::Kind::time:
      return ref("Time");
    case JsonField::Kind::raw:
      return {{"type", "object"}, {"additionalProperties", true}};
    case JsonField::Kind::message:
      return ref(field.message->type->name());
    case JsonField::Kind::word: {
      Json all = Json::array();
      for (const auto& [number, word] : field.words) all.push_back(word);
      return {{"type", "string"}, {"enum", std::move(all)}};
    }
  }
  return {};
}

Json field_schema(const JsonField& field, const Comments& comments) {
  Json schema = value_schema(field);
  const FieldDescriptor& descriptor = *field.field;
  const bool is_null =
      field.zero_is_null || field.negative_is_null || (field.may_be_absent && !field.is_omitted);
  if (is_null) schema = or_null(std::move(schema));
  if (descriptor.is_map()) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  } else if (descriptor.is_repeated()) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
  }
  if (const std::string about = comments.of(descriptor); !about.empty()) {
    schema["description"] = about;
  }
  return schema;
}

Json object_schema() {
  return {{"type", "object"}, {"required", Json::array()}, {"properties", Json::object()}};
}

void add_fields(const JsonPlan& plan, const Comments& comments, Json& object) {
  for (const JsonField& field : plan.fields) {
    if (field.is_hidden) continue;
    if (field.is_inlined) {
      add_fields(*field.message, comments, object);
      continue;
    }
    Json* around = &object;
    if (!field.in.empty()) {
      Json& inner = object["properties"][field.in];
      if (inner.is_null()) {
        inner = object_schema();
        object["required"].push_back(field.in);
      }
      around = &inner;
    }
    (*around)["properties"][field.name] = field_schema(field, comments);
    if (!field.is_omitted) (*around)["required"].push_back(field.name);
  }
}

void find_references(const Json& value, std::set<std::string>& names) {
  static const std::string kPrefix = "#/components/schemas/";
  if (value.is_object() || value.is_array()) {
    for (const Json& each : value) find_references(each, names);
  }
  if (value.is_object() && value.contains("$ref")) {
    const std::string name = value["$ref"].get<std::string>();
    if (name.starts_with(kPrefix)) names.insert(name.substr(kPrefix.size()));
  }
}

// The verbs for one thing: a path for each value of an enumeration, which is a schema too.
struct Verbs {
  const Descriptor* request;  // of the same for many; its field "verb" has the enumeration
  std::string thing;          // "job"
  std::string path;           // of one, up to the verb
  std::string role;
};

void add_verbs(const Verbs& verbs, const std::string& schema, const Comments& comments,
               Json& document) {
  const JsonField& field = *json_plan_of(verbs.request).find("verb");
  Json words = Json::array();
  for (const auto& [number, word] : field.words) {
    if (number == 0) continue;  // unspecified
    words.push_back(word);
    Json& path = document["paths"][verbs.path + word];
    if (!path.is_null()) continue;  // It takes more than a reason: schemas/openapi.yaml has it.
    path["post"] = {{"operationId", word + "_" + verbs.thing},
                    {"x-role", verbs.role},
                    {"summary", comments.of(*field.field->enum_type(), number)},
                    {"parameters", Json::array({part("parameters", verbs.thing)})},
                    {"requestBody", part("requestBodies", "Reason")},
                    {"responses",
                     {{"200", part("responses", verbs.thing == "job" ? "Job" : "Node")},
                      {"default", part("responses", "Problem")}}}};
  }
  document["components"]["schemas"][schema] = {{"type", "string"}, {"enum", std::move(words)}};
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

// What stands in braces, each a field of the request: as the document describes fields of that name
// or, if it does not, by the field itself.
Json path_parameters(const std::string& path, const Descriptor* request, const Comments& comments,
                     const Json& known) {
  Json parameters = Json::array();
  for (size_t at = path.find('{'); at != std::string::npos; at = path.find('{', at + 1)) {
    const std::string name = path.substr(at + 1, path.find('}', at) - at - 1);
    const JsonField& field = *json_plan_of(request).find(name);
    if (known.contains(field.field->name())) {
      parameters.push_back(part("parameters", field.field->name()));
      continue;
    }
    Json parameter = {
        {"name", name}, {"in", "path"}, {"required", true}, {"schema", value_schema(field)}};
    if (const std::string about = comments.of(*field.field); !about.empty()) {
      parameter["description"] = about;
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Json responses_of(const Descriptor* reply, int status) {
  const bool is_empty = reply->field_count() == 0;
  if (status == 0) status = is_empty ? 204 : 200;
  Json answer = {{"description", is_empty ? "It is done" : reply->name()}};
  if (!is_empty) answer["content"]["application/json"]["schema"] = ref(reply->name());
  return {{std::to_string(status), std::move(answer)}, {"default", part("responses", "Problem")}};
}

// What the contract says of a call's routes. By hand are parameters of the query and bodies, with
// their limits.
void add_routes(const google::protobuf::MethodDescriptor& call, const Comments& comments,
                Json& document) {
  for (int i = 0; i < call.options().ExtensionSize(v1::route); ++i) {
    const v1::Route& route = call.options().GetExtension(v1::route, i);
    const auto [method, path] = pattern_of(route);
    std::string verb = method;
    std::ranges::transform(verb, verb.begin(), [](char c) { return static_cast<char>(c + 32); });
    Json& operation = document["paths"][path][verb];
    operation["operationId"] = route.id().empty() ? words_of(call.name()) : route.id();
    operation["x-role"] = route.role();
    operation["summary"] = comments.of(call);
    Json parameters =
        path_parameters(path, call.input_type(), comments, document["components"]["parameters"]);
    for (Json& by_hand : operation["parameters"]) parameters.push_back(std::move(by_hand));
    operation.erase("parameters");
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
    operation["responses"] = responses_of(call.output_type(), route.status());
  }
}

}  // namespace

void add_message_parts(Json& document) {
  const Comments comments;
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) add_routes(*api->method(i), comments, document);
  add_verbs({v1::ControlJobRequest::descriptor(), "job", "/api/v1/jobs/{id}/", "owner"}, "JobVerb",
            comments, document);
  add_verbs({v1::ControlNodeRequest::descriptor(), "node", "/api/v1/nodes/{name}/", "operator"},
            "NodeVerb", comments, document);
  Json& schemas = document["components"]["schemas"];
  for (bool is_grown = true; is_grown;) {
    is_grown = false;
    std::set<std::string> names;
    find_references(document, names);
    for (const std::string& name : names) {
      if (schemas.contains(name)) continue;
      const Descriptor* type =
          google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("hai.v1." +
                                                                                    name);
      CHECK(type != nullptr);  // neither in schemas/openapi.yaml nor a message
      Json object = object_schema();
      add_fields(json_plan_of(type), comments, object);
      schemas[name] = std::move(object);
      is_grown = true;
    }
  }
}

}  // namespace hai
