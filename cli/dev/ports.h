#pragma once
// Ports of this machine's loopback address.

#include <string>

#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai::cli {

// A port nobody listens on now, below the range the kernel gives to outgoing connections, so that
// it is still free when the cluster starts again.
Result<int> find_free_port(int not_this);
bool is_free(int port);
// The status of `GET path` there, over TLS if there is a CA to believe; 0 if nobody answers within
// a second.
int http_status(int port, const std::string& path, const TlsTexts& tls = {});

}  // namespace hai::cli
