#pragma once
// Holds JSON against the part of JSON Schema that schemas/openapi.yaml uses. Keys that a schema
// does not name are errors unless it says additionalProperties: true, so that no answer outgrows
// the contract.

#include <nlohmann/json.hpp>
#include <string>

namespace hai {

// "" if it fits, else where and why not.
std::string schema_error(const nlohmann::json& document, const nlohmann::json& schema,
                         const nlohmann::json& value, const std::string& at = "$");

}  // namespace hai
