#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hai {

// The member `name` if it is a text, or "".
std::string text_at(const nlohmann::json& object, const std::string& name);

}  // namespace hai
