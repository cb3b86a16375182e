#pragma once
// What Prometheus scrapes. On the loop's thread: numbers of one moment.

#include <string>

#include "server/api/queries.h"

namespace hai {

std::string metrics_text(Queries& queries, size_t agent_count);

}  // namespace hai
