#pragma once
// What Prometheus scrapes. No series is named after a job or a user: their number stays small,
// however much is submitted.

#include <string>

#include "server/http/routes.h"

namespace hai {

// On the loop's thread. Of a standby: only what is about the server itself.
std::string metrics_text(const HttpParts& parts);

}  // namespace hai
