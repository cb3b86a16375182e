#pragma once
// Whole numbers out of JSON files that may be damaged.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace hai {

// Throw std::out_of_range if it is no whole number that the type holds: json's own get() casts a
// fraction, or 1e30, to some int64_t.
int64_t whole(const nlohmann::json& json);
int whole_int(const nlohmann::json& json);

}  // namespace hai
