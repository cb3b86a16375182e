#pragma once
// What HTTP says of a server that does not lead: requests go to the leader (307), answers that are
// not of now say so, readiness names who leads.

#include <optional>
#include <string>
#include <string_view>

#include "server/control/standing.h"
#include "server/http/http_message.h"

namespace hai {

// The answer to a request that this server should not handle at all. `scheme` is what the leader
// speaks: "http" or "https".
std::optional<HttpResponse> redirect_or_refuse(const Standing& standing, std::string_view scheme,
                                               const HttpRequest& request);

// 307 to the leader, whose HTTP address is known.
HttpResponse redirect_to_leader(const Standing& standing, std::string_view scheme,
                                const HttpRequest& request);

// Marks what was read from a state that is not of now.
void mark_stale(const Standing& standing, HttpResponse& response);

// One line: "leading", "standby; …", "recovering; …".
std::string readiness_text(const Standing& standing);

}  // namespace hai
