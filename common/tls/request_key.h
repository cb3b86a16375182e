#pragma once
// The key in a request, for whoever issues. Included by the files of this folder only.

#include "common/status.h"
#include "common/tls/openssl.h"

namespace hai::openssl {

// Judged as check_request() says.
Result<Key> key_of_request(const std::string& pem);

}  // namespace hai::openssl
