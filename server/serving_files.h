#pragma once
// What a server reads of its disk before it listens.

#include "common/status.h"
#include "server/http/web_files.h"
#include "server/server_config.h"

namespace hai {

// None, with a warning, where there is none to be found.
Result<WebFiles> load_dashboard(const ServerConfig& config);
// Warns of a server whose ports others can read.
Status check_tls(const ServerConfig& config);

}  // namespace hai
