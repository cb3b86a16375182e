#pragma once
// Bodies of requests: objects whose keys are all known, each error naming its key.

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/job_spec.h"
#include "common/status.h"
#include "server/http/json.h"

namespace hai {

Result<Json> object_of(const std::string& body);
Status check_keys(const Json& object, std::initializer_list<std::string_view> known);

Result<std::string> string_at(const Json& object, const std::string& key);
// RFC 3339; nullopt if it is absent.
Result<std::optional<UnixTime>> optional_time_at(const Json& object, const std::string& key);
// "" if it is absent.
Result<std::string> optional_string_at(const Json& object, const std::string& key);
Result<Priority> priority_at(const Json& object);
// nodes: a number, or null for no limit, given as -1.
Result<int64_t> quota_nodes_at(const Json& object);
// A list of strings; whole numbers are taken for their text, since ids of jobs are numbers.
Result<std::vector<std::string>> names_at(const Json& object, const std::string& key);

}  // namespace hai
