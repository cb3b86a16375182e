#pragma once
// What Prometheus scrapes. No series is named after a job or a user: their number stays small,
// however much is submitted.

#include <string>

#include "server/http/routes.h"

namespace hai {

// On the loop's thread. The standbys have only what is theirs.
std::string metrics_text(const HttpParts& parts);

}  // namespace hai
