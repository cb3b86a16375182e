#include "server/auth/json_text.h"

#include <nlohmann/json.hpp>

namespace hai {

std::string text_at(const nlohmann::json& object, const std::string& name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace hai
