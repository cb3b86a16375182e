#pragma once
// Whom a client of gRPC believes, and what it proves by.

#include <grpcpp/security/credentials.h>

#include <memory>

#include "common/tls/tls_files.h"

namespace hai {

// Without a CA: plain text. Else over TLS: the server's certificate must be of this CA and for the
// name by which it is dialled.
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const TlsTexts& tls);

}  // namespace hai
