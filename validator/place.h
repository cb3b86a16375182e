#pragma once
// Which process of which job this is.

#include <functional>
#include <string>

#include "common/status.h"
#include "validator/test.h"

namespace hai::validator {

using GetVariable = std::function<std::string(const char*)>;  // "" = not set

// From the environment of a rank; outside of a job, a single one on this host. invalid_argument if
// the variables contradict each other.
Result<Place> read_place(const GetVariable& get, const std::string& host_name);

}  // namespace hai::validator
