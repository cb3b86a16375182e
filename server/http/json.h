#pragma once
// JSON that is no message of the Api: problems, the document of the interface.

#include <nlohmann/json_fwd.hpp>

namespace hai {

using Json = nlohmann::ordered_json;

}  // namespace hai
