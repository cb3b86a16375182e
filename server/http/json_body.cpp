#include "server/http/json_body.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/model/user.h"

namespace hai {

namespace {

// The library recurses once per level: a body of a million brackets must not reach it.
constexpr int kDepthMax = 64;

bool is_too_deep(const std::string& body) {
  int depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> object_of(const std::string& body) {
  if (is_too_deep(body)) return invalid_argument("the body is nested deeper than {}", kDepthMax);
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return invalid_argument("the body must be a JSON object");
  return json;
}

Status check_keys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string list;
    for (std::string_view each : known) {
      if (!list.empty()) list += ", ";
      list += each;
    }
    return invalid_argument("{}: unknown key; known is: {}", key.substr(0, 100), list);
  }
  return ok();
}

Result<std::string> string_at(const Json& object, const std::string& key) {
  const auto it = object.find(key);
  if (it == object.end()) return invalid_argument("{}: is missing", key);
  if (!it->is_string()) return invalid_argument("{}: must be a string", key);
  return it->get<std::string>();
}

Result<std::string> optional_string_at(const Json& object, const std::string& key) {
  return object.contains(key) ? string_at(object, key) : Result<std::string>(std::string());
}

Result<std::optional<UnixTime>> optional_time_at(const Json& object, const std::string& key) {
  if (!object.contains(key)) return std::optional<UnixTime>();
  Result<std::string> text = string_at(object, key);
  if (!text.is_ok()) return text.status();
  Result<UnixTime> time = parse_rfc3339(text.value());
  if (!time.is_ok()) return invalid_argument("{}: {}", key, time.status().message());
  return std::optional<UnixTime>(time.value());
}

Result<Priority> priority_at(const Json& object) {
  Result<std::string> word = string_at(object, "priority");
  if (!word.is_ok()) return word.status();
  return parse_priority(word.value());
}

Result<int64_t> quota_nodes_at(const Json& object) {
  const auto nodes = object.find("nodes");
  if (nodes == object.end()) return invalid_argument("nodes: is missing");
  if (nodes->is_null()) return int64_t{-1};
  if (!nodes->is_number_unsigned() || nodes->get<uint64_t>() > Quota::kUnlimited) {
    return invalid_argument("nodes: must be a number up to {}, or null for no limit",
                            Quota::kUnlimited);
  }
  return nodes->get<int64_t>();
}

Result<std::vector<std::string>> names_at(const Json& object, const std::string& key) {
  const auto it = object.find(key);
  if (it == object.end()) return invalid_argument("{}: is missing", key);
  if (!it->is_array()) return invalid_argument("{}: must be a list", key);
  std::vector<std::string> names;
  for (const Json& each : *it) {
    if (each.is_string()) {
      names.push_back(each.get<std::string>());
    } else if (each.is_number_integer()) {
      names.push_back(each.dump());
    } else {
      return invalid_argument("{}: must be a list of names", key);
    }
  }
  return names;
}

}  // namespace hai
