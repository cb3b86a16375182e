#pragma once
// What gRPC's port proves by, whose certificates it asks for, and what they say.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"
#include "server/rpc/call_guard.h"

namespace hai {

// How soon gRPC sees that a file has changed; connections made from then on get the new one.
inline constexpr unsigned kTlsRefreshSeconds = 1;

// Without a certificate: plain text. With a CA, certificates are asked for: who shows one that is
// not of it is cut off, who shows none is served, as people are.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files, CallGuard guard);

// The nodes that the certificate of whoever calls names; gRPC has found it to be of our CA.
std::vector<std::string> nodes_of(const grpc::AuthContext& caller);
// When that certificate begins; nothing if the caller has shown none.
std::optional<UnixTime> begins_of(const grpc::AuthContext& caller);
// Whether a certificate that names these is the node's, and no other's.
Status check_is_node(const std::vector<std::string>& nodes, const std::string& node);

}  // namespace hai
