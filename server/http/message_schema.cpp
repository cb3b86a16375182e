#include "server/http/message_schema.h"

#include <nlohmann/json.hpp>

#include "common/check.h"
#include "common/whole_number.h"
#include "hai/v1/options.pb.h"

namespace hai {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

Json schema_ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json or_null(Json schema) {
  if (schema.contains("type") && schema["type"].is_string()) {
    schema["type"] = {schema["type"], "null"};
    return schema;
  }
  return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
}

Json value_schema(const JsonField& field) {
  const v1::JsonOptions& options = field.field->options().GetExtension(v1::json);
  if (!options.words().empty()) return schema_ref(options.words());
  switch (field.kind) {
    case JsonField::Kind::boolean:
      return {{"type", "boolean"}};
    case JsonField::Kind::integer:
      return {{"type", "integer"}};
    case JsonField::Kind::real:
      return {{"type", "number"}};
    case JsonField::Kind::text:
      if (field.takes_numbers) return {{"type", {"string", "integer"}}};
      return {{"type", "string"}};
    case JsonField::Kind::time:
      return schema_ref("Time");
    case JsonField::Kind::raw:
      return {{"type", "object"}, {"additionalProperties", true}};
    case JsonField::Kind::message:
      return schema_ref(field.message->type->name());
    case JsonField::Kind::word: {
      Json all = Json::array();
      for (const auto& [number, word] : field.words) all.push_back(word);
      return {{"type", "string"}, {"enum", std::move(all)}};
    }
  }
  return {};
}

Json option_value(const JsonField& field, const std::string& text) {
  if (field.kind == JsonField::Kind::boolean) return text == "true";
  if (field.kind == JsonField::Kind::integer) return whole_number(text).value();
  return text;
}

Json request_schema(const JsonField& field) {
  const v1::Limits& limits = field.field->options().GetExtension(v1::json).limits();
  Json schema = value_schema(field);
  if (limits.has_minimum()) schema["minimum"] = limits.minimum();
  if (limits.has_maximum()) schema["maximum"] = limits.maximum();
  if (limits.length() > 0) schema["maxLength"] = limits.length();
  if (!limits.fallback().empty()) schema["default"] = option_value(field, limits.fallback());
  return schema;
}

namespace {

Json field_schema(const JsonField& field, const ProtoComments& comments) {
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

void add_fields(const JsonPlan& plan, const ProtoComments& comments, Json& object) {
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

}  // namespace

void add_schemas(const ProtoComments& comments, Json& document) {
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  Json& schemas = document["components"]["schemas"];
  for (bool is_grown = true; is_grown;) {
    is_grown = false;
    std::set<std::string> names;
    find_references(document, names);
    for (const std::string& name : names) {
      if (schemas.contains(name)) continue;
      const Descriptor* type = pool->FindMessageTypeByName("hai.v1." + name);
      CHECK(type != nullptr);  // neither in schemas/openapi.yaml nor a message
      Json object = object_schema();
      add_fields(json_plan_of(type), comments, object);
      schemas[name] = std::move(object);
      is_grown = true;
    }
  }
}

}  // namespace hai
