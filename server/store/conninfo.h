#pragma once
// What a libpq connection string says, read by libpq itself: "key=value" words and URIs alike.

#include <map>
#include <string>

#include "common/status.h"

namespace hai {

// The parameters that are given; `invalid_argument` with libpq's words. Several hosts are one
// value, with commas.
Result<std::map<std::string, std::string>> parse_conninfo(const std::string& conninfo);

}  // namespace hai
