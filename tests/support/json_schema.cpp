#include "tests/support/json_schema.h"

#include <algorithm>

#include "common/time.h"

namespace hai {

namespace {

using nlohmann::json;

bool has_type(const std::string& type, const json& value) {
  if (type == "null") return value.is_null();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool has_one_of(const json& types, const json& value) {
  if (types.is_string()) return has_type(types, value);
  return std::ranges::any_of(types, [&](const json& type) { return has_type(type, value); });
}

std::string object_error(const json& document, const json& schema, const json& value,
                         const std::string& at) {
  const json properties = schema.value("properties", json::object());
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key)) return at + ": has no " + key.get<std::string>();
  }
  const json others = schema.value("additionalProperties", json(properties.empty()));
  for (const auto& [key, part] : value.items()) {
    const std::string below = at + "." + key;
    if (properties.contains(key)) {
      std::string error = schema_error(document, properties[key], part, below);
      if (!error.empty()) return error;
    } else if (others == false) {
      return below + ": is not in the schema";
    } else if (others.is_object()) {
      std::string error = schema_error(document, others, part, below);
      if (!error.empty()) return error;
    }
  }
  return "";
}

}  // namespace

std::string schema_error(const json& document, const json& schema, const json& value,
                         const std::string& at) {
  if (schema.contains("$ref")) {
    const std::string ref = schema["$ref"];
    return schema_error(document, document.at(json::json_pointer(ref.substr(1))), value, at);
  }
  if (schema.contains("anyOf")) {
    std::string errors;
    for (const json& each : schema["anyOf"]) {
      std::string error = schema_error(document, each, value, at);
      if (error.empty()) return "";
      errors += error + "; ";
    }
    return errors;
  }
  if (schema.contains("const") && value != schema["const"]) return at + ": is " + value.dump();
  if (schema.contains("type") && !has_one_of(schema["type"], value)) {
    return at + ": is " + value.dump() + ", not " + schema["type"].dump();
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    return at + ": " + value.dump() + " is none of " + schema["enum"].dump();
  }
  if (schema.value("format", "") == "date-time" &&
      !parse_rfc3339(value.get<std::string>()).is_ok()) {
    return at + ": " + value.dump() + " is no time";
  }
  if (value.is_object()) return object_error(document, schema, value, at);
  if (value.is_array() && schema.contains("items")) {
    for (size_t i = 0; i < value.size(); ++i) {
      std::string error =
          schema_error(document, schema["items"], value[i], at + "[" + std::to_string(i) + "]");
      if (!error.empty()) return error;
    }
  }
  return "";
}

}  // namespace hai
