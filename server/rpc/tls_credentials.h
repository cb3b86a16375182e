#pragma once
// What gRPC's port proves by, whose certificates it asks for, and what they say.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

// How soon gRPC sees that a file has changed; connections made from then on get the new one.
inline constexpr unsigned kTlsRefreshSeconds = 1;

// Without a certificate: plain text. With a CA, certificates are asked for: who shows one that is
// not of it is cut off, who shows none is served, as people are.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files);

// Whether whoever is at the other end of this call is the node: his certificate, which gRPC has
// found to be of our CA, says so.
Status check_is_node(const grpc::AuthContext& caller, const std::string& node);

}  // namespace hai
