#include "server/http/openapi.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/check.h"
#include "common/config/yaml_tree.h"
#include "common/whole_number.h"
#include "server/http/document_paths.h"
#include "server/http/document_words.h"
#include "server/http/message_schema.h"

namespace hai {

namespace {

// Plain scalars as YAML's core schema reads them; the document quotes no text that looks like one.
Json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return {};
    case YamlNode::Kind::scalar:
      if (node.text == "true" || node.text == "false") return node.text == "true";
      if (const auto number = whole_number(node.text)) return *number;
      return node.text;
    case YamlNode::Kind::list: {
      Json list = Json::array();
      for (const YamlNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case YamlNode::Kind::map: {
      Json map = Json::object();
      for (const YamlEntry& entry : node.entries) map[entry.key] = to_json(entry.value);
      return map;
    }
  }
  return {};
}

// {"$ref": "#/components/…"} → what it stands for.
const Json& resolve(const Json& document, const Json& value) {
  const auto ref = value.find("$ref");
  if (ref == value.end()) return value;
  return document.at(Json::json_pointer(ref->get<std::string>().substr(1)));
}

QueryRule rule_of(const Json& schema) {
  QueryRule rule{.type = schema.value("type", "string")};
  if (schema.contains("minimum")) rule.minimum = schema["minimum"].get<int64_t>();
  if (schema.contains("maximum")) rule.maximum = schema["maximum"].get<int64_t>();
  if (schema.contains("maxLength")) rule.length_max = schema["maxLength"].get<size_t>();
  if (schema.contains("enum")) rule.words = schema["enum"].get<std::vector<std::string>>();
  return rule;
}

std::string shown(const std::string& text) { return text.substr(0, 100); }

Status check_value(const std::string& name, const QueryRule& rule, const std::string& value) {
  if (value.empty()) return ok();  // as good as absent
  if (rule.type == "boolean" && value != "true" && value != "false" && value != "1" &&
      value != "0") {
    return invalid_argument("{}: must be true or false, is {}", name, shown(value));
  }
  if (rule.type == "integer") {
    const auto number = whole_number(value);
    if (!number) return invalid_argument("{}: {} is no whole number", name, shown(value));
    if (rule.minimum && *number < *rule.minimum) {
      return invalid_argument("{}: must be at least {}, is {}", name, *rule.minimum, *number);
    }
    if (rule.maximum && *number > *rule.maximum) {
      return invalid_argument("{}: must be at most {}, is {}", name, *rule.maximum, *number);
    }
  }
  if (rule.length_max && value.size() > *rule.length_max) {
    return invalid_argument("{}: has {} bytes, allowed is {}", name, value.size(),
                            *rule.length_max);
  }
  if (!rule.words.empty() && std::ranges::find(rule.words, value) == rule.words.end()) {
    return invalid_argument("{}: {} is none of {}", name, shown(value),
                            fmt::join(rule.words, ", "));
  }
  return ok();
}

}  // namespace

Openapi::Openapi() {
  YamlNode root;
  const auto error = parse_yaml(kOpenapiYaml, &root);
  CHECK(!error);
  Json document = to_json(root);
  const ProtoComments comments;
  add_words(document["components"]["schemas"]);
  add_paths(comments, document);
  add_schemas(comments, document);
  text_ = document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(),
                             [](char c) { return static_cast<char>(c - 32); });
      Rules& rules = operations_[upper + " " + path];
      if (operation.value("x-role", "") == "anyone") for_anyone_.insert(upper + " " + path);
      if (operation.value("x-other-parameters", "") == "ignored") {
        taking_others_.insert(upper + " " + path);
      }
      for (const Json& each : operation.value("parameters", Json::array())) {
        const Json& parameter = resolve(document, each);
        if (parameter["in"] != "query") continue;
        rules[parameter["name"].get<std::string>()] =
            rule_of(resolve(document, parameter["schema"]));
      }
    }
  }
}

std::string Openapi::json() const { return text_; }

const Openapi::Rules* Openapi::find(const std::string& method, const std::string& path) const {
  const auto found = operations_.find(method + " " + path);
  return found == operations_.end() ? nullptr : &found->second;
}

bool Openapi::is_for_anyone(const std::string& method, const std::string& path) const {
  return for_anyone_.contains(method + " " + path);
}

bool Openapi::takes_others(const std::string& method, const std::string& path) const {
  return taking_others_.contains(method + " " + path);
}

std::set<std::string> Openapi::operations() const {
  std::set<std::string> names;
  for (const auto& [name, rules] : operations_) names.insert(name);
  return names;
}

Status check_query(const Openapi::Rules& rules, const HttpRequest& request) {
  for (const auto& [name, value] : request.query) {
    const auto rule = rules.find(name);
    if (rule == rules.end()) {
      std::vector<std::string> known;
      for (const auto& [word, each] : rules) known.push_back(word);
      if (known.empty()) return invalid_argument("{}: this takes no parameters", shown(name));
      return invalid_argument("{}: unknown parameter; known is: {}", shown(name),
                              fmt::join(known, ", "));
    }
    RETURN_IF_ERROR(check_value(name, rule->second, value));
  }
  return ok();
}

}  // namespace hai
