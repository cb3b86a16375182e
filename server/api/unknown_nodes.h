#pragma once
// The one error for a list that names nodes which are not there.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

// not_found: "nodes node-[8-9] do not exist: nothing was changed".
Status unknown_nodes(std::vector<std::string> names, std::string_view and_so = "");

}  // namespace hai
