#pragma once
// Included by the files of this folder only.

#include <nlohmann/json.hpp>
#include <string>

namespace hai {

// The member `name` if it is a text, or "".
inline std::string text_at(const nlohmann::json& object, const std::string& name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace hai
