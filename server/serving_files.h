#pragma once
// What a server reads of its disk before it listens.

#include "common/status.h"
#include "server/http/web_files.h"
#include "server/server_config.h"

namespace hai {

// None, with a warning, where there is none to be found.
Result<WebFiles> load_dashboard(const ServerConfig& config);
// Warns of a server whose ports others can read. Like the next one, `invalid_argument` only where
// the config names what is not there or is no good; not for what the next try may find mended.
Status check_tls(const ServerConfig& config);
// By which nodes believe each other (common/tls/peer_keys.h): from the CA's key, which all servers
// that may lead have. "" = none.
Result<std::string> read_peer_secret(const ServerConfig& config);

}  // namespace hai
