#pragma once
// Events into a file that hai-sim replay reads.

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "server/model/event.h"

namespace hai {

// A new file, or in place of an old one.
Status write_log(const std::string& path, const std::vector<Event>& events);

}  // namespace hai
