#include "server/rpc/tls_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <vector>

#include "common/tls/certificate.h"
#include "proto/convert/grpc_words.h"

namespace hai {
namespace {

std::vector<std::string> nodes_of(const grpc::AuthContext& caller) {
  std::vector<std::string> nodes;
  for (const grpc::string_ref& uri : caller.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    const std::string_view text(uri.data(), uri.size());
    if (text.starts_with(kNodeUri)) nodes.emplace_back(text.substr(kNodeUri.size()));
  }
  return nodes;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files) {
  if (files.certificate.empty()) return grpc::InsecureServerCredentials();
  keep_grpc_silent();
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.ca, kTlsRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (!files.ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

Status check_is_node(const grpc::AuthContext& caller, const std::string& node) {
  const std::vector<std::string> nodes = nodes_of(caller);
  if (nodes.empty()) {
    return permission_denied(
        "an agent says that it is {} and shows no certificate of a node: give it one of {} "
        "(hai-server ca issue --node {})",
        node, node, node);
  }
  if (nodes.size() == 1 && nodes.front() == node) return ok();
  return permission_denied("an agent says that it is {}, but its certificate is that of {}", node,
                           nodes.front());
}

}  // namespace hai
